// examples/vite-chat, which setup.ts finds.
declare module "vite-chat" {
  import type { ReactNode } from "react";
  export default function App(): ReactNode;
}
