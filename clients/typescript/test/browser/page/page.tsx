import type { Snapshot } from "@spool/client";
import { SpoolProvider, useThread, useThreadState } from "@spool/react";
import { Component, type ReactNode, StrictMode, useEffect } from "react";
import { App } from "./app.js";
import { Chat } from "./chat.js";
import { renders } from "./renders.js";

/** What the URL says: see main.tsx. */
export interface PageProps {
  readonly search: string;
  /** That with which a server has rendered the page. */
  readonly snapshot?: Snapshot | undefined;
}

export function Page({ search, snapshot }: PageProps) {
  const params = new URLSearchParams(search);
  const api = params.get("api");
  const token = params.get("token");
  return (
    <StrictMode>
      <SpoolProvider
        {...(api !== null && { baseUrl: api })}
        {...(token !== null && { token })}
        {...(params.has("cookies") && { credentials: "include" as const })}
        {...(snapshot !== undefined && { initialSnapshot: snapshot })}
        shareTabs={params.has("share")}
        backoff={{ minMs: 100, maxMs: 500 }}
      >
        <Expose />
        {params.has("broken") && (
          <Boundary>
            <Broken />
          </Boundary>
        )}
        {params.has("chat") ? <Chat /> : <App last={Number(params.get("last") ?? Number.POSITIVE_INFINITY)} />}
      </SpoolProvider>
    </StrictMode>
  );
}

function Expose() {
  const { store } = useThread();
  useEffect(() => {
    Object.assign(window, { spool: store, renders });
  }, [store]);
  return null;
}

/** Its selector throws as soon as somebody says so. */
function Broken() {
  const count = useThreadState(({ messages }) => {
    if (messages.some(({ content }) => content === "break")) {
      throw new Error("the selector is broken");
    }
    return messages.length;
  });
  return <p id="count">{count}</p>;
}

class Boundary extends Component<{ children: ReactNode }, { error: string | null }> {
  override state: { error: string | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error: error.message };
  }

  override render() {
    return this.state.error === null ? this.props.children : <p id="broken">{this.state.error}</p>;
  }
}
