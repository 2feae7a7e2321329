import { defineConfig } from "vite";

// The page and the server have one origin, so that no CORS is needed.
const server = process.env.SPOOL_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  server: { proxy: { "/api": server } },
  preview: { proxy: { "/api": server } },
});
