// A thread of a file, to read. Nothing is sent anywhere.
import { type Client, createClient } from "@spool/client";
import { SpoolProvider, useThreadState } from "@spool/react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { RecordView } from "../record/view.js";
import { ThreadMark } from "../thread/marks.js";
import { Messages } from "../thread/page.js";
import { Panel } from "../thread/panel.js";
import { ReadOnly } from "../thread/read-only.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { keepFile, useFile } from "./kept.js";
import { type Opened, openFile } from "./save.js";

const absent = () => Promise.reject(new Error("Its data are not in this file."));

/** A client that reaches nobody. */
const offline: Client = {
  ...createClient({
    baseUrl: "http://file.invalid",
    retries: 0,
    fetch: () => Promise.reject(new TypeError("this thread is a file")),
  }),
  artifact: absent,
  artifactUrl: absent,
};

export default function FileScreen(): ReactNode {
  const file = useFile();
  const [opened, setOpened] = useState<{ file: File; has: Opened } | null>(null);
  const [problem, setProblem] = useState("");
  const picker = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (file === null) {
      return;
    }
    let stale = false;
    setProblem("");
    openFile(file)
      .then((has) => !stale && setOpened({ file, has }))
      .catch((error) => {
        if (!stale) {
          setOpened(null);
          setProblem(messageOf(error));
        }
      });
    return () => {
      stale = true;
    };
  }, [file]);
  const other = () => picker.current?.click();
  return (
    <main id="main" className="file-page">
      {opened === null ? (
        <Empty title="Read a saved thread">
          {problem !== "" && <Problem>{problem}</Problem>}
          <p className="faint">
            Drop a file here that this console or <code>spool run export</code> has saved. It stays in this page, and no
            server is asked.
          </p>
          <button type="button" onClick={other}>
            Choose a file
          </button>
        </Empty>
      ) : "record" in opened.has ? (
        <RecordView
          key={keyOf(opened.file)}
          record={opened.has.record}
          client={offline}
          start={null}
          head={<FileTag name={opened.file.name} onOther={other} />}
        />
      ) : (
        <SpoolProvider
          key={keyOf(opened.file)}
          client={offline}
          persistence={false}
          initialView={opened.has.view}
          threadId={opened.has.view.thread.id}
        >
          <ReadOnly value={true}>
            <Saved name={opened.file.name} onOther={other} />
          </ReadOnly>
        </SpoolProvider>
      )}
      <input
        ref={picker}
        type="file"
        accept=".ndjson,.jsonl,.json,application/x-ndjson,application/json"
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

const keys = new WeakMap<File, number>();
let opened = 0;

/** Another file is another page, also if it has the same name. */
function keyOf(file: File): number {
  const key = keys.get(file) ?? ++opened;
  keys.set(file, key);
  return key;
}

function FileTag({ name, onOther }: { name: string; onOther: () => void }): ReactNode {
  return (
    <>
      <span className="tag clip" title={name}>
        {name}
      </span>
      <button type="button" className="quiet" onClick={onOther}>
        Another file
      </button>
    </>
  );
}

function Saved({ name, onOther }: { name: string; onOther: () => void }): ReactNode {
  const thread = useThreadState((state) => state.view.thread);
  return (
    <div className="thread">
      <div className="talk">
        <header className="thread-head">
          <h1 className="clip">{thread.title ?? thread.id}</h1>
          <ThreadMark />
          <FileTag name={name} onOther={onOther} />
        </header>
        <Messages />
      </div>
      <aside aria-label="About this thread">
        <Panel />
      </aside>
    </div>
  );
}
