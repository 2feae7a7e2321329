// The frames that a tab has had last, for tabs that are behind it.
import { isAfter, parseCursor } from "../cursor.js";
import type { Frame } from "../wire.js";

/** So many frames are kept. */
const most = 2_000;

export class Ring {
  #frames: Frame[] = [];
  /** The position before the first of them. Null: anywhere, because they begin with a snapshot. */
  #from: string | null;
  /** The last state, which has no position. */
  state: Frame | null = null;

  constructor(cursor: string) {
    this.#from = cursor;
  }

  add(frame: Frame): void {
    if (frame.kind === "thread" && frame.event.type === "STATE_CHANGE") this.state = frame;
    if (frame.kind === "snapshot" && frame.snapshot.afterMessageId == null) {
      this.#frames = [frame];
      this.#from = null;
      this.state = null;
      return;
    }
    this.#frames.push(frame);
    if (this.#frames.length <= most) return;
    const [first] = this.#frames.splice(0, 1);
    this.#from = first?.cursor ?? this.#from ?? "";
  }

  /** Returns the frames behind a position. Null: some of them are gone. */
  after(cursor: string): readonly Frame[] | null {
    if (this.#from !== null && this.#from !== cursor && isBehind(this.#from, cursor)) return null;
    const had = this.#frames.findLastIndex((f) => f.cursor !== undefined && !isBehind(f.cursor, cursor));
    return this.#frames.slice(had + 1);
  }
}

/** Whether a position is behind another one, in the order in which a stream has them. */
function isBehind(position: string, other: string): boolean {
  const a = parseCursor(position) ?? { seq: -1, streamId: "", offset: "" };
  const b = parseCursor(other) ?? { seq: -1, streamId: "", offset: "" };
  if (a.seq !== b.seq) return a.seq > b.seq;
  if (a.streamId !== b.streamId) return a.streamId !== "" && b.streamId !== ""; // without one, the stream is over
  return a.offset !== "" && a.offset !== b.offset && isAfter(a.offset, b.offset);
}
