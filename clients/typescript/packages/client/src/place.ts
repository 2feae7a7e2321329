// How far a follower has read, and which notices it has seen there.
import { cursorAfter, isAfter, parseCursor } from "./cursor.js";
import type { Frame, Snapshot, ThreadEvent } from "./wire.js";

/**
 * Tells what a follower has had. Notices have no cursor: after a reconnect the server sends the present state, and the
 * turns since the last record entry, again.
 */
export class Place {
  /** The last id, in the server's own words. `""`: none yet. */
  cursor: string;
  #seq = -1;
  #streamId = "";
  #offset = "";
  /** The user turns that came after that entry. */
  readonly #turns = new Set<string>();
  /** The last STATE_CHANGE since the last snapshot. */
  #state = "";
  /** No STATE_CHANGE has come on this connection. */
  #fresh = false;

  constructor(cursor: string) {
    this.cursor = cursor;
    this.#read();
  }

  /** Is called for each new connection. */
  reconnected(): void {
    this.#fresh = true;
  }

  /** Moves the place behind a frame, and returns the frame. Null: the follower has had it. */
  accept(frame: Frame, id: string | undefined): Frame | null {
    if (frame.kind === "thread" && !(frame.event.seq > 0)) return this.#had(frame.event) ? null : frame;
    if (this.#before(frame)) return null;
    const moved = id !== undefined && parseCursor(id) ? id : cursorAfter(this.cursor, frame);
    this.move(moved);
    if (frame.kind === "snapshot" && frame.snapshot.afterMessageId == null) {
      this.#state = "";
      for (const m of frame.snapshot.messages ?? []) if (m.role === "user" && m.agentId == null) this.#turns.add(m.id);
    }
    return { ...frame, cursor: moved };
  }

  /** Moves the place behind something that the follower does not know. */
  move(cursor: string): void {
    const seq = this.#seq;
    this.cursor = cursor;
    this.#read();
    if (seq !== this.#seq) this.#turns.clear();
  }

  #read(): void {
    const at = parseCursor(this.cursor);
    if (!at) return;
    this.#seq = at.seq;
    this.#streamId = at.streamId;
    this.#offset = at.offset;
  }

  #before(frame: Frame): boolean {
    if (frame.kind === "thread") return frame.event.seq <= this.#seq;
    if (frame.kind !== "stream" || frame.streamId !== this.#streamId || !this.#offset) return false;
    return !!frame.item.offset && !isAfter(frame.item.offset, this.#offset);
  }

  #had(notice: ThreadEvent): boolean {
    if (notice.type === "STATE_CHANGE") {
      const first = this.#fresh;
      const state = JSON.stringify(notice.payload);
      this.#fresh = false;
      const again = first && state === this.#state;
      this.#state = state;
      return again;
    }
    if (notice.type !== "MESSAGE_APPENDED" || !notice.payload?.id) return false;
    const was = this.#turns.has(notice.payload.id);
    this.#turns.add(notice.payload.id);
    return was;
  }
}

/** Returns a value that has come from elsewhere as a frame. Null: it is of a kind that is not known. */
export function frameOf(given: unknown): Frame | null {
  const value = given as Record<string, unknown> | null;
  if (typeof value !== "object" || value === null) return null;
  const has = (part: unknown) => typeof part === "object" && part !== null;
  if (value.kind === undefined && typeof value.type === "string" && typeof value.seq === "number") {
    return { kind: "thread", event: value } as unknown as Frame; // hosts without run streams send the event itself
  }
  const known =
    (value.kind === "thread" && has(value.event)) ||
    (value.kind === "stream" && has(value.item) && typeof value.streamId === "string") ||
    (value.kind === "snapshot" && has((value.snapshot as Snapshot | null)?.thread));
  if (!known) return null;
  const frame = value as unknown as Frame;
  // Some hosts count with numbers.
  if (frame.kind === "stream" && frame.item.offset != null) frame.item.offset = String(frame.item.offset);
  return frame;
}
