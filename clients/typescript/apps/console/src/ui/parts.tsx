// Small pieces that all screens share.
import type { State } from "@spool/client";
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from "react";
import type { Wait } from "../thread/wait.js";

const stateWords: Record<string, string> = {
  QUEUED: "queued",
  RUNNING: "running",
  WAITING_FOR_INPUT: "waits",
  COMPLETED: "done",
  FAILED: "failed",
  CANCELLED: "stopped",
  IDLE: "idle",
};

/** The state of a run, as a dot and a word, or what the run waits for. */
export function StateMark({
  state,
  wait = null,
  quiet = false,
}: {
  state: State | string;
  /** What the run waits for. Null: it is not known, or the run does not wait. */
  wait?: Wait | null;
  quiet?: boolean;
}): ReactNode {
  if (state === "") {
    return null;
  }
  const word = wait?.text ?? stateWords[state] ?? state.toLowerCase();
  return (
    <span className="state" data-state={state} data-asks={wait?.asks === true} title={quiet ? word : undefined}>
      <span className="dot" aria-hidden="true" />
      <span className={quiet ? "sr" : "clip"}>{word}</span>
    </span>
  );
}

/** A line for a problem, with what can be done about it. */
export function Problem({ children, action }: { children: ReactNode; action?: ReactNode }): ReactNode {
  return (
    <div className="problem" role="alert">
      <span>{children}</span>
      {action}
    </div>
  );
}

/** What stands where nothing is. */
export function Empty({ title, children }: { title: string; children?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** A field with its label. */
export function Field({
  label,
  hint,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  children: (id: string) => ReactNode;
}): ReactNode {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </div>
  );
}

/** A dialog above the page. Escape and a click beside it close it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key, which belongs to the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    // Not the button that closes it, which comes first.
    dialog?.querySelector<HTMLElement>("input, .dialog > .actions button")?.focus();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && ref.current?.close()}
    >
      <div className="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" className="quiet" onClick={() => ref.current?.close()} aria-label="Close">
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** How much of something is used. */
export function Meter({
  label,
  used,
  total,
  text,
}: {
  label: string;
  used: number;
  total: number;
  text: string;
}): ReactNode {
  const part = total > 0 ? Math.min(1, used / total) : 0;
  return (
    <div className="meter" data-level={part >= 1 ? "over" : part >= 0.8 ? "near" : "fine"}>
      <div className="meter-line">
        <span>{label}</span>
        <span className="num">{text}</span>
      </div>
      <progress value={part} max={1} aria-label={`${label}: ${text}`} />
    </div>
  );
}

/** Says what failed, in a few words. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
