// The versions of a turn: the one that is shown, and the branches that began at the same place.
import type { Branch, ViewMessage } from "@spool/client";

/** The versions of a turn, the oldest first. The one that is shown has no branch. */
export interface TurnVersions {
  readonly versions: readonly (Branch | null)[];
  readonly at: number;
}

/** Returns the versions of a turn, or null if there is but one. */
export function versionsOf(
  messageId: string,
  messages: readonly Pick<ViewMessage, "id">[],
  branches: readonly Branch[] | null,
): TurnVersions | null {
  if (branches === null || branches.length === 0) {
    return null;
  }
  const place = placesOf(messages).get(messageId);
  if (place === undefined) {
    return null;
  }
  const base = messages[place - 1]?.id;
  const others = branches.filter((branch) => branch.baseMessageId === base && branch.baseBranchId === undefined);
  if (others.length === 0) {
    return null;
  }
  // The ids of messages sort by the time at which they were made.
  const all: { id: string; branch: Branch | null }[] = [
    ...others.map((branch) => ({ id: branch.fromMessageId, branch })),
    { id: messageId, branch: null },
  ].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { versions: all.map((one) => one.branch), at: all.findIndex((one) => one.branch === null) };
}

const places = new WeakMap<readonly Pick<ViewMessage, "id">[], Map<string, number>>();

/** The places of all messages. It is made once for each array, as every turn of the page asks. */
function placesOf(messages: readonly Pick<ViewMessage, "id">[]): Map<string, number> {
  let found = places.get(messages);
  if (found === undefined) {
    found = new Map(messages.map((message, i) => [message.id, i]));
    places.set(messages, found);
  }
  return found;
}
