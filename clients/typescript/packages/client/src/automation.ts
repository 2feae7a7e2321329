// Runs that start by themselves or later, and who is told of runs. They need the scopes schedules and webhooks. Starts
// that wait for their time need read and write.
import type { CallOptions } from "./options.js";
import { withQuery } from "./routes.js";
import type { components } from "./types.gen.js";
import type { Client } from "./types.js";

type Schemas = components["schemas"];

export type DelayedStart = Schemas["DelayedStart"];
export type Schedule = Schemas["Schedule"];
export type ScheduleChange = Schemas["ScheduleChange"];
export type SchedulePreview = Schemas["SchedulePreview"];
export type ScheduleRequest = Schemas["ScheduleRequest"];
export type ScheduleRule = Schemas["ScheduleRule"];
export type ScheduleTick = Schemas["ScheduleTick"];
export type WebhookAttempt = Schemas["WebhookAttempt"];
export type WebhookChange = Schemas["WebhookChange"];
export type WebhookCreate = Schemas["WebhookCreate"];
export type WebhookDead = Schemas["WebhookDead"];
export type WebhookEndpoint = Schemas["WebhookEndpoint"];
export type WebhookMade = Schemas["WebhookMade"];

/** The schedules of the caller's tenant. */
export interface Schedules {
  list(options?: CallOptions & { after?: string; limit?: number }): Promise<Schedule[]>;
  get(name: string, options?: CallOptions): Promise<Schedule>;
  create(request: ScheduleRequest, options?: CallOptions): Promise<Schedule>;
  change(name: string, change: ScheduleChange, options?: CallOptions): Promise<Schedule>;
  remove(name: string, options?: CallOptions): Promise<void>;
  /** Nothing comes due until it is resumed. */
  pause(name: string, options?: CallOptions): Promise<Schedule>;
  /** Comes due from now on. What would have been due while it was paused is not. */
  resume(name: string, options?: CallOptions): Promise<Schedule>;
  /** Starts a run now. The due times stay as they are. */
  run(name: string, options?: CallOptions): Promise<ScheduleTick>;
  /** What became of its due times, the last one first. */
  ticks(name: string, options?: CallOptions): Promise<ScheduleTick[]>;
  /** A rule in words, with its next due times. It makes nothing. */
  preview(rule: ScheduleRule, options?: CallOptions): Promise<SchedulePreview>;
}

/** The starts of the caller's tenant that wait for their time: `run` with `startAt` makes one. */
export interface DelayedStarts {
  /** In the order of their run ids, 50 at a time unless `limit` says otherwise. `after` continues a list. */
  list(options?: CallOptions & { threadId?: string; after?: string; limit?: number }): Promise<DelayedStart[]>;
  get(runId: string, options?: CallOptions): Promise<DelayedStart>;
  /** Gives it another time, also one that was refused. A time in the past is now. */
  move(runId: string, startAt: Date | string, options?: CallOptions): Promise<DelayedStart>;
  /** Removes it, and returns it. Its run id and its idempotency key are free again. */
  cancel(runId: string, options?: CallOptions): Promise<DelayedStart>;
}

/** The endpoints of the caller's tenant that are told of events. */
export interface Webhooks {
  list(options?: CallOptions): Promise<WebhookEndpoint[]>;
  get(name: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Makes an endpoint. The answer has its secret, which nobody sees again. */
  create(request: WebhookCreate, options?: CallOptions): Promise<WebhookMade>;
  change(name: string, change: WebhookChange, options?: CallOptions): Promise<WebhookEndpoint>;
  remove(name: string, options?: CallOptions): Promise<void>;
  /** Makes a second secret, which signs beside the first one. */
  rotate(name: string, options?: CallOptions): Promise<WebhookMade>;
  /** Ends the use of the older secret. */
  dropSecret(name: string, options?: CallOptions): Promise<WebhookEndpoint>;
  /** Sends a sample event now. */
  test(name: string, options?: CallOptions): Promise<WebhookAttempt>;
  /** The last attempts, the last one first. */
  attempts(name: string, options?: CallOptions): Promise<WebhookAttempt[]>;
  /** The events that could not be delivered, the last one first. */
  dead(name: string, options?: CallOptions): Promise<WebhookDead[]>;
  /** Delivers one event again, or those that died since a time. With `more`, there are others: ask again. */
  replay(
    name: string,
    what: { eventId: string } | { since: string },
    options?: CallOptions,
  ): Promise<Schemas["WebhookReplayed"]>;
}

/** Returns the operations on schedules, with the credentials of a client. */
export function createSchedules(client: Client): Schedules {
  const { get, send, at } = callsBelow(client, "/api/agent/schedules");
  return {
    list: async (options) => (await get<Schemas["ScheduleList"]>("", options)).schedules,
    get: (name, options) => get(at(name), options),
    create: (request, options) => send("POST", "", request, options),
    change: (name, change, options) => send("PATCH", at(name), change, options),
    remove: (name, options) => send("DELETE", at(name), undefined, options),
    pause: (name, options) => send("POST", `${at(name)}/pause`, {}, options),
    resume: (name, options) => send("POST", `${at(name)}/resume`, {}, options),
    run: (name, options) => send("POST", `${at(name)}/run`, {}, options),
    ticks: async (name, options) => (await get<Schemas["ScheduleTicks"]>(`${at(name)}/ticks`, options)).ticks,
    preview: (rule, options) => send("POST", "/preview", rule, options),
  };
}

/** Returns the operations on starts that wait for their time, with the credentials of a client. */
export function createDelayedStarts(client: Client): DelayedStarts {
  const { get, send, at } = callsBelow(client, "/api/agent/starts");
  return {
    list: async (options) => (await get<Schemas["DelayedStarts"]>("", options)).starts,
    get: (runId, options) => get(at(runId), options),
    move: (runId, startAt, options) =>
      send("PATCH", at(runId), { startAt: startAt instanceof Date ? startAt.toISOString() : startAt }, options),
    cancel: (runId, options) => send("DELETE", at(runId), undefined, options),
  };
}

/** Returns the operations on webhooks, with the credentials of a client. */
export function createWebhooks(client: Client): Webhooks {
  const { get, send, at } = callsBelow(client, "/api/agent/webhooks");
  return {
    list: async (options) => (await get<Schemas["WebhookList"]>("", options)).webhooks,
    get: (name, options) => get(at(name), options),
    create: (request, options) => send("POST", "", request, options),
    change: (name, change, options) => send("PATCH", at(name), change, options),
    remove: (name, options) => send("DELETE", at(name), undefined, options),
    rotate: (name, options) => send("POST", `${at(name)}/secret`, {}, options),
    dropSecret: (name, options) => send("DELETE", `${at(name)}/secret`, undefined, options),
    test: (name, options) => send("POST", `${at(name)}/test`, {}, options),
    attempts: async (name, options) =>
      (await get<Schemas["WebhookAttempts"]>(`${at(name)}/attempts`, options)).attempts,
    dead: async (name, options) => (await get<Schemas["DeadWebhooks"]>(`${at(name)}/dead`, options)).events,
    replay: (name, what, options) => send("POST", `${at(name)}/replay`, what, options),
  };
}

function callsBelow(client: Client, base: string) {
  return {
    at: (name: string) => `/${encodeURIComponent(name)}`,
    get: <T>(
      path: string,
      { signal, ...query }: CallOptions & { threadId?: string; after?: string; limit?: number } = {},
    ) => client.request<T>("GET", withQuery(base + path, query), undefined, signal ? { signal } : {}),
    send: <T>(method: "POST" | "PATCH" | "DELETE", path: string, body: unknown, { signal }: CallOptions = {}) =>
      client.request<T>(method, base + path, body, signal ? { signal } : {}),
  };
}
