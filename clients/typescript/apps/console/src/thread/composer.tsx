// Where a turn is written. While a run is at work it says what becomes of the turn.
import type { SendOptions } from "@spool/client";
import { useActivity, useThread } from "@spool/react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { client } from "../session.js";
import { bytes } from "../ui/format.js";
import { messageOf, Problem } from "../ui/parts.js";
import { type Attaching, attach } from "./attach.js";

type Busy = "steer" | "enqueue" | "interrupt";

const busyWords: Record<Busy, { name: string; about: string }> = {
  steer: { name: "Steer", about: "The run reads it before its next step" },
  enqueue: { name: "Queue", about: "The next run, after this one" },
  interrupt: { name: "Interrupt", about: "Stops this run, and answers at once" },
};

/** What a new thread begins with. */
export interface NewThreadOptions {
  agent: string;
  model: string;
  tokenBudget: string;
}

export function Composer({
  options,
  example,
}: {
  options: NewThreadOptions | null;
  /** Another one is put into the field. */
  example: { text: string };
}): ReactNode {
  const { threadId, active, send, stop, state, dismissError } = useThread();
  const activity = useActivity();
  const [text, setText] = useState("");
  const [files, setFiles] = useState<readonly Attaching[]>([]);
  const [busy, setBusy] = useState<Busy>("steer");
  const [problem, setProblem] = useState("");
  const [over, setOver] = useState(false);
  /** The turn that failed. Sent again as it was, it has the same id: the server may have it. */
  const failed = useRef({ turn: "", clientMessageId: "" });
  const picker = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (example.text !== "") {
      setText(example.text);
      field.current?.focus();
    }
  }, [example]);
  // A turn without a file that could not be attached would be another one.
  const waiting = files.some((file) => file.attachment === undefined);
  const ready = (text.trim() !== "" || files.length > 0) && !waiting;

  const add = (list: Iterable<File>) => {
    for (const file of list) {
      const key = crypto.randomUUID();
      const put = (fields: Partial<Attaching>) =>
        setFiles((now) => now.map((one) => (one.key === key ? { ...one, ...fields } : one)));
      setFiles((now) => [...now, { key, name: file.name, size: file.size }]);
      const upload =
        threadId === null
          ? null
          : async (big: File) => ({
              artifactId: (await client.upload(threadId, big, { name: big.name, mediaType: big.type })).id,
              mediaType: big.type,
              name: big.name,
            });
      attach(file, upload).then(
        (attachment) => put({ attachment }),
        (error) => put({ problem: messageOf(error) }),
      );
    }
  };

  const submit = async () => {
    if (!ready) {
      return;
    }
    const attachments = files.flatMap((file) => (file.attachment === undefined ? [] : [file.attachment]));
    const more: SendOptions = {
      ...(attachments.length > 0 && { attachments }),
      ...(active && { whenBusy: busy }),
      ...(threadId === null && options !== null && startFields(options)),
    };
    const kept = { text, files };
    setText("");
    setFiles([]);
    setProblem("");
    const turn = JSON.stringify([threadId, text, more]);
    const same = failed.current.turn === turn && { clientMessageId: failed.current.clientMessageId };
    const result = await send(text, { ...more, ...same });
    if (!result.ok) {
      dismissError();
      failed.current = { turn, clientMessageId: result.clientMessageId };
      setProblem(messageOf(result.error));
      setText((now) => now || kept.text);
      setFiles((now) => (now.length > 0 ? now : kept.files));
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      void submit();
    }
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can also be chosen with the button
    <div
      className="composer"
      data-over={over}
      onDragOver={(event) => {
        if (event.dataTransfer.types.includes("Files")) {
          event.preventDefault();
          event.stopPropagation();
          setOver(true);
        }
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        event.stopPropagation();
        setOver(false);
        add(event.dataTransfer.files);
      }}
    >
      {problem !== "" && <Problem>{problem}</Problem>}
      {files.length > 0 && (
        <ul className="files" aria-label="Attached files">
          {files.map((file) => (
            <li key={file.key} data-bad={file.problem !== undefined}>
              {file.name}{" "}
              <span className="faint">{file.problem ?? (file.attachment ? bytes(file.size) : "reading…")}</span>
              <button
                type="button"
                className="quiet"
                aria-label={`Remove ${file.name}`}
                onClick={() => setFiles(files.filter((one) => one.key !== file.key))}
              >
                ✕
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        aria-label="Message to the agent"
        placeholder={active ? busyWords[busy].about : "Message"}
        rows={Math.min(10, Math.max(2, text.split("\n").length))}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          if (event.clipboardData.files.length > 0) {
            event.preventDefault();
            add(event.clipboardData.files);
          }
        }}
      />
      <div className="composer-line">
        <button type="button" className="quiet" onClick={() => picker.current?.click()}>
          Attach
        </button>
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            add(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        {active && (
          <div className="tabs" role="radiogroup" aria-label="While the run is at work">
            {(Object.keys(busyWords) as Busy[]).map((one) => (
              // biome-ignore lint/a11y/useSemanticElements: it looks like the tabs of the page
              <button
                key={one}
                type="button"
                role="radio"
                aria-checked={busy === one}
                title={busyWords[one].about}
                onClick={() => setBusy(one)}
              >
                {busyWords[one].name}
              </button>
            ))}
          </div>
        )}
        <span className="activity" role="status" data-state={state}>
          {threadId === null || state === "FAILED" ? "" : activity.label}
        </span>
        <span className="tools ends">
          {active && (
            <button type="button" className="danger" onClick={() => void stop()}>
              Stop
            </button>
          )}
          <button type="button" className="primary" disabled={!ready} onClick={() => void submit()}>
            {active ? busyWords[busy].name : "Send"}
          </button>
        </span>
      </div>
    </div>
  );
}

function startFields({ agent, model, tokenBudget }: NewThreadOptions): SendOptions {
  const tokens = Number.parseInt(tokenBudget, 10);
  return {
    ...(agent !== "" && { agent }),
    ...(model !== "" && { model }),
    ...(tokens > 0 && { tokenBudget: tokens }),
  };
}
