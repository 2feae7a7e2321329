export { type Activity, defaultLabels, type Labels, type Phase } from "./activity.js";
export { type FromThread, type Spool, type ThreadSource, useSpool } from "./context.js";
export { type BrowserPersistenceOptions, browserPersistence, type Persistence } from "./persistence.js";
export type { MessageFilter } from "./present.js";
export { SpoolProvider, type SpoolProviderProps } from "./provider.js";
export {
  endOfCall,
  type ShownMessage,
  type ShownPart,
  type ShownSource,
  type ShownToolCall,
  type ToolCallState,
  textOf,
} from "./show.js";
export type { ThreadOptions } from "./thread-owner.js";
export { type Inbox, type InboxOptions, type InboxQuestion, useInbox } from "./use-inbox.js";
export { type Interrupt, useInterrupts } from "./use-interrupts.js";
export type { List, ListOptions } from "./use-list.js";
export { useMessage, useMessages } from "./use-messages.js";
export { type RunNode, type Runs, useRun, useRuns } from "./use-runs.js";
export { SpoolThread, type Thread, type ThreadActions, useThread, useThreadActions } from "./use-thread.js";
export {
  type ConnectionState,
  type ThreadStateOptions,
  useActivity,
  useConnection,
  useThreadState,
} from "./use-thread-state.js";
export { type ThreadList, type ThreadListOptions, useThreads } from "./use-threads.js";
export { useUsage } from "./use-usage.js";
