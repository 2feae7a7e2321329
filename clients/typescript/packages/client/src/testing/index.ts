// A server in memory, for the tests of what uses the client.
export {
  type Handler,
  type ScriptedAnswer,
  type ScriptedRequest,
  type ScriptedServer,
  scriptedServer,
} from "./server.js";
export { type OpenStreamConnection, ScriptedThread, snapshotOf } from "./thread.js";
