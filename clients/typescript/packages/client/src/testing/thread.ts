// One thread of a scripted server: its snapshot, and the events that its streams send.
import { cursorAfter } from "../cursor.js";
import type { Frame, Snapshot, State } from "../wire.js";

/** A stream that is open. */
export interface OpenStreamConnection {
  write(text: string): void;
  end(): void;
  cut(): void;
}

/** One event: a frame, and the id before it. */
interface Sent {
  readonly id: string | null;
  readonly data: string;
}

const now = "2026-11-21T09:30:00Z";

/** What a test makes a thread do. Each method sends to the streams that are open, and to later ones. */
export class ScriptedThread {
  /** What the history answers. Null: 404. */
  snapshot: Snapshot | null = null;
  /** How many milliseconds the streams ask their readers to wait before a reconnect. Null: they do not ask. */
  retryMs: number | null = 1000;
  /** Streams begin with the present state, as those of a Spool server do. */
  greets = true;
  readonly #streams = new Set<OpenStreamConnection>();
  readonly #sent: Sent[] = [];
  #cursor = "-1 - -";
  #seq = 0;
  #offset = 0;
  #steps = 0;
  #segment = 0;
  #run = "r1";
  #block = 0;
  #state: Frame | null = null;

  constructor(readonly id: string) {}

  /** How many streams are open. */
  get connections(): number {
    return this.#streams.size;
  }

  /** Whether the thread exists. */
  get exists(): boolean {
    return this.snapshot !== null || this.#sent.length > 0;
  }

  /** Sends a frame. Its id follows from it unless it is given; a notice has none. */
  frame(frame: Frame, id?: string | null): this {
    const notice = frame.kind === "thread" && !(frame.event.seq > 0);
    const given = id === undefined ? (notice ? null : cursorAfter(this.#cursor, frame)) : id;
    if (given !== null) this.#cursor = given;
    const { cursor: _, ...rest } = frame;
    const sent = { id: given, data: JSON.stringify(rest) };
    this.#sent.push(sent);
    for (const stream of this.#streams) stream.write(textOf(sent));
    return this;
  }

  /** Sends an entry of the record. */
  entry(type: string, payload: unknown): this {
    return this.frame(this.#event(++this.#seq, type, payload));
  }

  /** Sends an entry of the application. */
  published(type: string, payload: unknown): this {
    const frame = this.#event(++this.#seq, type, payload);
    return this.frame({ ...frame, event: Object.assign(frame.event, { published: true }) });
  }

  /** Sends a notice. */
  notice(type: string, payload: unknown): this {
    return this.frame(this.#event(0, type, payload));
  }

  /** Sends an item of the stream of the present segment. */
  item(type: string, fields: Record<string, unknown> = {}): this {
    const item = { type, ...fields, offset: `${this.#segment}-${++this.#offset}` };
    return this.frame({ kind: "stream", streamId: this.#streamId, item } as unknown as Frame);
  }

  /** Changes the state of the thread. */
  state(state: State, fields: Record<string, unknown> = {}): this {
    this.#state = this.#event(0, "STATE_CHANGE", { state, runId: this.#run, ...fields });
    return this.frame(this.#state);
  }

  /** Sends a turn of the user. */
  turn(id: string, content: unknown, fields: Record<string, unknown> = {}): this {
    const turn = { id, threadId: this.id, role: "user", content, createdAt: now, agentId: null, ...fields };
    return this.notice("MESSAGE_APPENDED", { runId: this.#run, ...turn });
  }

  /** Begins a segment of a run. */
  start(runId = this.#run): this {
    if (runId !== this.#run) this.#steps = 0;
    this.#run = runId;
    this.#segment++;
    this.#offset = 0;
    const segment = { runId, streamId: this.#streamId, segment: this.#segment };
    this.entry("RUN_STARTED", segment).item("RUN_STARTED", { threadId: this.id, ...segment });
    return this.state("RUNNING");
  }

  /** Sends some text of the answer. */
  text(delta: string): this {
    if (this.#block === 0) this.item("TEXT_MESSAGE_START", { messageId: this.#messageId(true), role: "assistant" });
    return this.item("TEXT_MESSAGE_CONTENT", { messageId: this.#messageId(), delta });
  }

  /** Ends a step, which saves what it has said. */
  step(): this {
    this.#block = 0;
    const usage = { inputTokens: 1, cachedInputTokens: 0, outputTokens: 1, totalTokens: 2 };
    return this.item("STEP_FINISHED", { step: ++this.#steps, agentId: null, finishReason: "stop", usage });
  }

  /** Asks a question, and parks the run. */
  park(toolCallId: string, fields: Record<string, unknown> = {}): this {
    const asks = {
      toolCallId,
      toolName: "send",
      agentId: null,
      arguments: {},
      inputSchema: null,
      frames: [],
      reason: "approval",
    };
    this.entry("INPUT_REQUIRED", { ...asks, digest: `sha256:${toolCallId}`, ...fields });
    return this.finish("parked").state("WAITING_FOR_INPUT");
  }

  /** Ends the segment, and with `finished` the run. */
  finish(status: "finished" | "parked" | "stopped" = "finished"): this {
    this.#block = 0;
    this.item("RUN_FINISHED", { status });
    this.entry("RUN_ENDED", { runId: this.#run, streamId: this.#streamId, segment: this.#segment, status });
    if (status === "parked") return this;
    return this.state(status === "finished" ? "COMPLETED" : "CANCELLED", { endedAt: now, stopReason: "completed" });
  }

  /** Sends text to the open streams as it is, for what a server does not send. */
  raw(text: string): this {
    for (const stream of this.#streams) stream.write(text);
    return this;
  }

  /** Breaks the connections of the open streams. */
  cut(): this {
    for (const stream of this.#streams) stream.cut();
    return this;
  }

  /** Ends the open streams, as a server does that shuts down. */
  end(): this {
    for (const stream of this.#streams) stream.end();
    return this;
  }

  /** Opens a stream behind a cursor. */
  open(cursor: string, stream: OpenStreamConnection): void {
    this.#streams.add(stream);
    if (this.retryMs !== null) stream.write(`retry: ${this.retryMs}\n\n`);
    const from = cursor ? this.#sent.findLastIndex((s) => s.id === cursor) + 1 : 0;
    if (this.greets && this.#state) stream.write(textOf({ id: null, data: JSON.stringify(this.#state) }));
    for (const sent of this.#sent.slice(from)) {
      if (sent.id !== null || !sent.data.includes('"STATE_CHANGE"')) stream.write(textOf(sent)); // states are not stored
    }
  }

  /** Forgets a stream that is over. */
  closed(stream: OpenStreamConnection): void {
    this.#streams.delete(stream);
  }

  get #streamId(): string {
    return `${this.#run}:${this.#segment}`;
  }

  #messageId(next = false): string {
    if (next) this.#block++;
    return `${this.#streamId}:m${this.#block}`;
  }

  #event(seq: number, type: string, payload: unknown): Extract<Frame, { kind: "thread" }> {
    const event = { threadId: this.id, seq, type, payload, createdAt: now, runId: this.#run };
    return { kind: "thread", event } as unknown as Extract<Frame, { kind: "thread" }>;
  }
}

function textOf({ id, data }: Sent): string {
  return `${id === null ? "" : `id: ${id}\n`}data: ${data}\n\n`;
}

/** Returns a snapshot of a thread, with what a test gives of it. */
export function snapshotOf(id: string, fields: Partial<Snapshot> & { state?: State } = {}): Snapshot {
  const { state = "IDLE", ...rest } = fields;
  return {
    thread: { id, state: state as Snapshot["thread"]["state"], model: "", title: "", createdAt: now, updatedAt: now },
    messages: [],
    runs: [],
    lastEventSeq: -1,
    activeEvents: [],
    stream: null,
    ...rest,
  };
}
