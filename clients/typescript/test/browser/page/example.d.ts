// examples/vite-chat, which setup.ts finds.
declare module "vite-chat" {
  import type { ReactNode } from "react";
  export default function App(): ReactNode;
}

// The components of the guides, which setup.ts finds, too.
declare module "ai-sdk-chat" {
  import type { ReactNode } from "react";
  export function Chat(props: { id: string; saved: never[] }): ReactNode;
}
declare module "ai-sdk-chat-6" {
  export { Chat } from "ai-sdk-chat";
}
declare module "ag-ui-parts" {
  import type { AgentSubscriber, Message } from "@ag-ui/client";
  import type { ReactNode } from "react";
  export const keepParts: AgentSubscriber;
  export function Parts(props: { message: Message }): ReactNode;
}
declare module "ag-ui-spool-agent" {
  export { HttpAgent as SpoolAgent } from "@ag-ui/client";
}
