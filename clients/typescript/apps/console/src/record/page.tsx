// The history of a thread of the server.
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { saveFile } from "../file/save.js";
import { go, to } from "../route.js";
import { client } from "../session.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { useNewest } from "./newest.js";
import { RecordView } from "./view.js";

export default function RecordPage({ threadId, start }: { threadId: string; start: number | null }): ReactNode {
  const { value: opened, error } = useNewest(threadId);
  const [problem, setProblem] = useState("");
  const [forking, setForking] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  /** The address names the version, so that it can be sent to somebody. Browsers bound how often it may change. */
  const note = useCallback(
    (version: number) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => window.history.replaceState(null, "", to.record(threadId, version)), 400);
    },
    [threadId],
  );
  const fork = async (version: number) => {
    setForking(true);
    setProblem("");
    try {
      const made = await client.fork(threadId, { version });
      if (!made.accepted) {
        throw new Error(made.error ?? made.reason ?? "The server makes no new thread.");
      }
      go(to.thread(made.threadId));
    } catch (error) {
      setProblem(messageOf(error));
      setForking(false);
    }
  };
  const live = (
    <a className="button" href={to.thread(threadId)} title="The thread as it is now (h)">
      Live
    </a>
  );

  if (opened === null) {
    return error === null ? (
      <p className="faint loading">Loading…</p>
    ) : (
      <Empty title="The history cannot be shown">
        <Problem action={live}>{messageOf(error)}</Problem>
      </Empty>
    );
  }
  return (
    <RecordView
      record={opened.record}
      client={client}
      start={start}
      onVersion={note}
      head={live}
      actions={(version) => (
        <>
          <button
            type="button"
            disabled={forking}
            title="A new thread with the messages up to here"
            onClick={() => void fork(version)}
          >
            Fork from here
          </button>
          <button type="button" className="quiet" onClick={() => saveFile(threadId, opened.blob)}>
            Export
          </button>
          {problem !== "" && <Problem>{problem}</Problem>}
        </>
      )}
    />
  );
}
