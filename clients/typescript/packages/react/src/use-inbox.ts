"use client";

import type { InboxAnswer, InboxFilter, Inbox as InboxPage, InboxResult } from "@spool/client";
import { useCallback } from "react";
import { useSpool } from "./context.js";
import { type List, type ListOptions, useList } from "./use-list.js";

/** A question of an inbox. */
export type InboxQuestion = InboxPage["questions"][number];

/** The questions of all threads that wait for an answer. */
export interface Inbox extends Omit<List<InboxQuestion>, "items"> {
  readonly questions: readonly InboxQuestion[];
  /**
   * Answers up to 100 questions. They leave the list at once. Each has a result of its own, in the same order. `null`: the
   * request has failed, and the questions are back.
   */
  answer(answers: readonly InboxAnswer[]): Promise<readonly InboxResult[] | null>;
}

/** Options of {@link useInbox}. */
export interface InboxOptions extends Omit<InboxFilter, "signal" | "after">, ListOptions {}

const idOf = ({ threadId, toolCallId }: { threadId: string; toolCallId: string }) => `${threadId} ${toolCallId}`;

/** Returns the questions of all threads that wait for an answer, read again from time to time. */
export function useInbox(options: InboxOptions = {}): Inbox {
  const { client, threadsRefreshMs } = useSpool();
  const { manual, refreshMs = threadsRefreshMs, limit: pageSize, ...filter } = options;
  const key = JSON.stringify(filter);
  const read = useCallback(
    async (limit: number | undefined, after: string | undefined) => {
      const bounds = { ...(limit !== undefined && { limit }), ...(after !== undefined && { after }) };
      const { questions, next } = await client.inbox({ ...(JSON.parse(key) as InboxFilter), ...bounds });
      return { items: questions, ...(next !== undefined && { next }) };
    },
    [client, key],
  );
  const { list, without } = useList(read, idOf, pageSize, { ...(manual !== undefined && { manual }), refreshMs });
  const answer = useCallback(
    (answers: readonly InboxAnswer[]) => without(answers.map(idOf), () => client.answerInbox(answers)),
    [client, without],
  );
  const { items: questions, ...rest } = list;
  return { questions, ...rest, answer };
}
