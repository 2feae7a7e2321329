// Positions in streams and in the record.
import type { Frame, Snapshot } from "./wire.js";

/** The position of a follower. */
export interface Position {
  readonly seq: number;
  readonly streamId: string;
  readonly offset: string;
}

/** Reads a cursor. Null: it is none. */
export function parseCursor(text: string): Position | null {
  const [seq = "", streamId = "-", offset = "-"] = text.trim().split(/\s+/);
  if (!/^-?\d+$/.test(seq)) return null;
  return { seq: Number(seq), streamId: streamId === "-" ? "" : streamId, offset: offset === "-" ? "" : offset };
}

/** The position behind a snapshot. */
export function cursorOf(s: Snapshot): string {
  return `${s.lastEventSeq ?? -1} ${s.stream?.streamId ?? "-"} ${s.stream?.offset ?? "-"}`;
}

/** The position behind a frame, for a stream that does not say so. */
export function cursorAfter(cursor: string, frame: Frame): string {
  const at = parseCursor(cursor) ?? { seq: -1, streamId: "", offset: "" };
  if (frame.kind === "stream") return `${at.seq} ${frame.streamId} ${frame.item.offset ?? "-"}`;
  if (frame.kind === "snapshot") return frame.snapshot.afterMessageId == null ? cursorOf(frame.snapshot) : cursor;
  const { seq, type, payload } = frame.event;
  if (type === "RUN_STARTED" && payload?.streamId) return `${seq} ${payload.streamId} -`;
  return `${seq} ${at.streamId || "-"} ${at.offset || "-"}`;
}

/**
 * Whether an offset comes after another one. Offsets are decimal numbers with dashes between them, and may be larger
 * than a number of JavaScript can be. Offsets of another form only tell whether they are the same.
 */
export function isAfter(offset: string, before: string): boolean {
  if (offset === before) return false;
  if (!numbers.test(offset) || !numbers.test(before)) return true;
  const a = offset.split("-");
  const b = before.split("-");
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? "";
    const y = b[i] ?? "";
    if (x !== y) return x.length !== y.length ? x.length > y.length : x > y;
  }
  return a.length > b.length;
}

const numbers = /^\d+(-\d+)*$/;
