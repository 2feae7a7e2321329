// The history of a thread of the server.
import { readRecord, type ThreadRecord } from "@spool/client/record";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { saveFile } from "../file/save.js";
import { go, to } from "../route.js";
import { client } from "../session.js";
import { Empty, messageOf, Problem } from "../ui/parts.js";
import { RecordView } from "./view.js";

interface Opened {
  readonly record: ThreadRecord;
  /** The record as it came, to save. */
  readonly blob: Blob;
}

export default function RecordPage({ threadId, start }: { threadId: string; start: number | null }): ReactNode {
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState("");
  const [forking, setForking] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    setProblem("");
    openRecord(threadId, stop.signal)
      .then(setOpened)
      .catch((error) => !stop.signal.aborted && setProblem(messageOf(error)));
    return () => stop.abort();
  }, [threadId]);
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
    return problem === "" ? (
      <p className="faint loading">Loading…</p>
    ) : (
      <Empty title="The history cannot be shown">
        <Problem action={live}>{problem}</Problem>
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

async function openRecord(threadId: string, signal: AbortSignal): Promise<Opened> {
  const answer = await client.record(threadId, { signal });
  const blob = await answer.blob();
  return { record: await readRecord(blob, { signal }), blob };
}
