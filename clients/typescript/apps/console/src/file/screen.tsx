// A thread of a file, to read. Nothing is sent anywhere.
import { type Client, createClient, type ThreadView } from "@spool/client";
import { SpoolProvider, useThreadState } from "@spool/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Messages } from "../thread/page.js";
import { Panel } from "../thread/panel.js";
import { ReadOnly } from "../thread/read-only.js";
import { Empty, messageOf, Problem, StateMark } from "../ui/parts.js";
import { keepFile, useFile } from "./kept.js";
import { openSnapshot } from "./save.js";

/** A client that reaches nobody. */
const offline: Client = createClient({
  baseUrl: "http://file.invalid",
  retries: 0,
  fetch: () => Promise.reject(new TypeError("this thread is a file")),
});

export default function FileScreen(): ReactNode {
  const file = useFile();
  const [opened, setOpened] = useState<{ view: ThreadView; name: string } | null>(null);
  const [problem, setProblem] = useState("");
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (file === null) {
      return;
    }
    setProblem("");
    file
      .text()
      .then((text) => setOpened({ view: openSnapshot(text), name: file.name }))
      .catch((error) => {
        setOpened(null);
        setProblem(messageOf(error));
      });
  }, [file]);
  return (
    <main id="main" className="file-page">
      {opened === null ? (
        <Empty title="Read a saved thread">
          {problem !== "" && <Problem>{problem}</Problem>}
          <p className="faint">Drop a file here. It stays in this page, and no server is asked.</p>
          <button type="button" onClick={() => picker.current?.click()}>
            Choose a file
          </button>
        </Empty>
      ) : (
        <SpoolProvider
          key={opened.view.thread.id + opened.name}
          client={offline}
          persistence={false}
          initialView={opened.view}
          threadId={opened.view.thread.id}
        >
          <ReadOnly value={true}>
            <Saved name={opened.name} onOther={() => picker.current?.click()} />
          </ReadOnly>
        </SpoolProvider>
      )}
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File to read"
        onChange={(event) => {
          const chosen = event.target.files?.[0];
          if (chosen !== undefined) {
            keepFile(chosen);
          }
        }}
      />
    </main>
  );
}

function Saved({ name, onOther }: { name: string; onOther: () => void }): ReactNode {
  const thread = useThreadState((state) => state.view.thread);
  return (
    <div className="thread">
      <div className="talk">
        <header className="thread-head">
          <h1 className="clip">{thread.title ?? thread.id}</h1>
          <StateMark state={thread.state} />
          <span className="tag">{name}</span>
          <button type="button" className="quiet" onClick={onOther}>
            Another file
          </button>
        </header>
        <Messages />
      </div>
      <aside aria-label="About this thread">
        <Panel />
      </aside>
    </div>
  );
}
