import { describe, expect, test } from "vitest";
import { type Framed, fixture, framed, shown } from "../fixtures.test-util.js";
import type { ThreadView } from "../view.js";
import type { Frame, Snapshot } from "../wire.js";
import { emptyView, reduce } from "./reduce.js";

interface Case {
  readonly name: string;
  readonly snapshot: Snapshot | null;
  readonly frames: readonly Framed[];
  readonly view: Omit<ThreadView, "reading">;
}

const { views } = fixture<{ views: Case[] }>("views");

describe("the shared views", () => {
  test.each(views.map((c) => [c.name, c] as const))("%s", (_, c) => {
    let view = c.snapshot ? reduce(emptyView, c.snapshot) : emptyView;
    for (const f of c.frames) view = reduce(frozen(view), framed(f));
    expect(shown(view)).toEqual(c.view);
  });

  // A view is JSON, so that a server can send it to a page, which goes on from there.
  test.each(views.map((c) => [c.name, c] as const))("%s, as JSON in between", (_, c) => {
    let view = c.snapshot ? reduce(emptyView, c.snapshot) : emptyView;
    for (const f of c.frames) view = JSON.parse(JSON.stringify(reduce(view, framed(f)))) as ThreadView;
    expect(shown(view)).toEqual(c.view);
  });

  // Frames that come again, as after a reconnect of a server that sends too much, change nothing.
  test.each(views.filter((c) => c.frames.length > 0).map((c) => [c.name, c] as const))("%s, twice", (_, c) => {
    let view = c.snapshot ? reduce(emptyView, c.snapshot) : emptyView;
    for (const f of c.frames) {
      view = reduce(view, framed(f));
      if (f.id !== null && (f.frame as Frame).kind !== "snapshot") expect(reduce(view, framed(f))).toBe(view);
    }
  });
});

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}
