// The parameters of the URL: api (where the server is), token, cookies, share (tabs share a connection), last (how
// many messages are on the screen).
import { SpoolProvider, useThread } from "@spool/react";
import { StrictMode, useEffect } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { renders } from "./renders.js";

const params = new URLSearchParams(window.location.search);
const api = params.get("api");
const token = params.get("token");

function Expose() {
  const { store } = useThread();
  useEffect(() => {
    Object.assign(window, { spool: store, renders });
  }, [store]);
  return null;
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SpoolProvider
      {...(api !== null && { baseUrl: api })}
      {...(token !== null && { token })}
      {...(params.has("cookies") && { credentials: "include" as const })}
      shareTabs={params.has("share")}
      backoff={{ minMs: 100, maxMs: 500 }}
    >
      <Expose />
      <App last={Number(params.get("last") ?? Number.POSITIVE_INFINITY)} />
    </SpoolProvider>
  </StrictMode>,
);
