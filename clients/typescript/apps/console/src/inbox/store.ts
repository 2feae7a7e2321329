// The questions of all threads, which the inbox shows and the bar counts.
import { type InboxFilter, type Question, SpoolError } from "@spool/client";
import { useSyncExternalStore } from "react";
import { client } from "../session.js";

/** What is known of the inbox. */
export interface InboxState {
  readonly questions: readonly Question[];
  readonly hasMore: boolean;
  /** The first answer has not come. */
  readonly loading: boolean;
  readonly error: SpoolError | null;
  readonly filter: InboxFilter;
}

const every = 4000;
const page = 100;

let state: InboxState = { questions: [], hasMore: false, loading: true, error: null, filter: { order: "expiry" } };
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let turn = 0;
let size = page;

function put(fields: Partial<InboxState>): void {
  state = { ...state, ...fields };
  for (const changed of listeners) {
    changed();
  }
}

/** Identifies a question. A call that asks again asks another one. */
export function keyOf(question: Pick<Question, "threadId" | "toolCallId" | "agentId" | "digest">): string {
  return [question.threadId, question.agentId ?? "", question.toolCallId, question.digest ?? ""].join(" ");
}

/** Reads the questions again. */
export async function refreshInbox(): Promise<void> {
  clearTimeout(timer);
  const now = ++turn;
  if (document.visibilityState === "visible") {
    try {
      const { questions, next } = await client.inbox({ ...state.filter, limit: size });
      if (now === turn) {
        put({ questions: kept(questions), hasMore: next !== undefined, loading: false, error: null });
      }
    } catch (error) {
      if (now === turn) {
        const known = error instanceof SpoolError ? error : new SpoolError("internal", String(error));
        put({ loading: false, error: known });
      }
    }
  }
  if (now === turn && listeners.size > 0) {
    timer = setTimeout(() => void refreshInbox(), every);
  }
}

/** Returns the questions, each as the object that it was before: a question does not change. */
function kept(questions: readonly Question[]): readonly Question[] {
  const before = new Map(state.questions.map((one) => [keyOf(one), one]));
  return questions.map((one) => {
    const old = before.get(keyOf(one));
    return old !== undefined && old.expiresAt === one.expiresAt ? old : one;
  });
}

export function setInboxFilter(filter: InboxFilter): void {
  size = page;
  put({ filter, loading: true, questions: [] });
  void refreshInbox();
}

export function moreOfInbox(): void {
  size = Math.min(1000, size + page);
  void refreshInbox();
}

/** Takes questions away that were answered here, before the server is asked again. */
export function dropFromInbox(keys: ReadonlySet<string>): void {
  put({ questions: state.questions.filter((one) => !keys.has(keyOf(one))) });
  void refreshInbox();
}

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  if (listeners.size === 1) {
    document.addEventListener("visibilitychange", onVisible);
    void refreshInbox();
  }
  return () => {
    listeners.delete(changed);
    if (listeners.size === 0) {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    }
  };
}

function onVisible(): void {
  if (document.visibilityState === "visible") {
    void refreshInbox();
  }
}

export function useInbox(): InboxState {
  return useSyncExternalStore(subscribe, () => state);
}
