// The names of the wire, from spec/openapi.json. A server may send more kinds and fields than these: ignore
// those that you do not know.
import type { components } from "./types.gen.js";

type Schemas = components["schemas"];

export type Artifact = Schemas["Artifact"];
export type ArtifactURL = Schemas["ArtifactURL"];
export type Attachment = Schemas["Attachment"];
export type Branch = Schemas["Branch"];
export type BranchMessages = Schemas["BranchMessages"];
export type CallPending = Schemas["CallPending"];
export type CompactResult = Schemas["CompactResult"];
export type Content = Message["content"];
export type ContextSummary = Schemas["ContextSummary"];
export type DelayedStart = Schemas["DelayedStart"];
export type DeleteResult = Schemas["DeleteResult"];
export type ForkResult = Schemas["ForkResult"];
export type Inbox = Schemas["Inbox"];
export type InboxLink = Schemas["InboxLink"];
export type InputRequired = Schemas["InputRequired"];
export type Message = Schemas["Message"];
export type OutputSchema = Schemas["OutputSchema"];
export type Part = Schemas["Part"];
export type Question = Schemas["Question"];
export type QuestionLink = Schemas["QuestionLink"];
export type QueuedRun = Schemas["QueuedRun"];
export type RespondResult = Schemas["RespondResult"];
export type RestoreResult = Schemas["RestoreResult"];
export type Run = Schemas["Run"];
export type RunOutcome = Schemas["RunOutcome"];
export type RunResult = Schemas["RunResult"];
export type Snapshot = Schemas["Snapshot"];
export type StateChange = Schemas["StateChange"];
export type StopResult = Schemas["StopResult"];
export type StreamToken = Schemas["StreamToken"];
export type Thread = Schemas["Thread"];
export type ThreadUsage = Schemas["ThreadUsage"];
export type TokenCount = Schemas["TokenCount"];
export type Usage = Schemas["UsageTotals"];

/** An entry of the record (seq from 1) or a notice (seq 0). Switch on `type`. */
export type ThreadEvent = Schemas["Event"];
/** An event that an application has published. */
export type ApplicationEvent = Schemas["ApplicationEvent"];
/** An item of a run stream. Switch on `type`. */
export type Item = Schemas["Item"];

/** The state of a thread and of a run. `""`: not known yet. */
export type State = Thread["state"] | "";
/** What a start does while the thread has another run. */
export type WhenBusy = "reject" | "enqueue" | "latest" | "interrupt" | "rollback" | "steer";

/** What a follower yields. `cursor` is the position after the frame; a notice has none. */
export type Frame = (Schemas["ThreadFrame"] | Schemas["StreamFrame"] | Schemas["SnapshotFrame"]) & { cursor?: string };

/** A run that is queued, running or waiting for input. */
export function isActive(state: State | undefined): boolean {
  return state === "QUEUED" || state === "RUNNING" || state === "WAITING_FOR_INPUT";
}

/** Whether a run in this state has ended. A state that this client does not know is none of the ends. */
export function isOver(state: State | undefined): boolean {
  return state === "COMPLETED" || state === "CANCELLED" || state === "FAILED";
}
