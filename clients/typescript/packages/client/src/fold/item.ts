// Items of a run stream.

/** An item as it comes: flat, and of any kind. */
export interface AnyItem {
  readonly type: string;
  readonly offset?: string;
  readonly [field: string]: unknown;
}

/** The run of a stream. */
export const runOfStream = (streamId: string) => streamId.slice(0, Math.max(0, streamId.lastIndexOf(":")));

/** A field of an item, if it is a text. */
export const text = (value: unknown) => (typeof value === "string" ? value : "");

/** The nested run that an item is about. `""`: the run's own agent. */
export const agentOf = (item: AnyItem) => text(item.agentId ?? item.subagentId);

/** The item that a nested run wrote, with the offset of the one that wraps it. Any other item is itself. */
export const innerOf = (item: AnyItem): AnyItem =>
  item.type === "SUBAGENT_EVENT" ? { ...(item.event as AnyItem), offset: item.offset ?? "" } : item;
