// Failures with what a program can decide by.

/** Why something failed. A server may send other codes. */
export type ErrorCode =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "already_finished"
  | "gone"
  | "limit"
  | "queue_full"
  | "storage_full"
  | "canceled"
  | "unavailable"
  | "internal"
  | (string & {});

/** What a {@link SpoolError} is made of. */
export interface ErrorFields {
  status?: number;
  reason?: string;
  field?: string;
  retryAfterMs?: number;
  requestId?: string;
  result?: unknown;
  native?: boolean;
  cause?: unknown;
}

/** A failure of an operation or of a stream. */
export class SpoolError extends Error {
  override readonly name = "SpoolError";
  /** Why, for a program. */
  declare readonly code: ErrorCode;
  /** The HTTP status. Undefined: there was no answer. */
  declare readonly status?: number;
  /** Why a result is a refusal, such as `active_run`. */
  declare readonly reason?: string;
  /** The field of the request that is wrong, such as `attachments[0].url`. */
  declare readonly field?: string;
  /** How long the server asks to wait before the same request. */
  declare readonly retryAfterMs?: number;
  /** The server's id of the request, for a question about it. */
  declare readonly requestId?: string;
  /** The result that is a refusal. */
  declare readonly result?: unknown;
  /** The answer has the form of an agent server's, and not that of a proxy in front of it. */
  declare readonly native?: boolean;

  /** @internal The result is one that the operation returns. */
  declare refused?: boolean;

  constructor(code: ErrorCode, message: string, fields: ErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = code;
    const { cause: _, ...rest } = fields;
    Object.assign(this, rest);
  }
}

/** The body of an answer that is no success: an error, or the result of a refused operation. */
interface Refusal {
  error?: unknown;
  code?: unknown;
  reason?: unknown;
  field?: unknown;
}

/** Returns the error of an answer, whose body is in `text`. */
export function errorOf(response: Response, text: string): SpoolError {
  const body = parsed(text);
  const status = response.status;
  const message = string(body?.error) || string(body?.reason);
  const code = string(body?.code) || codeOf(status);
  const native = message !== "" && (status !== 404 || body?.code === "not_found" || message === "Thread not found");
  const fields: ErrorFields = { status, native };
  const retryAfterMs = retryAfter(response.headers.get("Retry-After"));
  if (retryAfterMs !== undefined) fields.retryAfterMs = retryAfterMs;
  const requestId = response.headers.get("X-Request-ID");
  if (requestId) fields.requestId = requestId;
  if (string(body?.reason)) fields.reason = string(body?.reason);
  const field = string(body?.field) || (status === 400 ? fieldOf(message) : "");
  if (field) fields.field = field;
  if (body) fields.result = body;
  return new SpoolError(code, message || `the server answered ${status}`, fields);
}

/** Returns the error of a result that is a refusal. */
export function refusalOf(
  result: { error?: unknown; reason?: unknown; code?: unknown },
  otherwise: string,
): SpoolError {
  const reason = string(result.reason);
  const message = string(result.error) || reason || otherwise;
  return new SpoolError(string(result.code) || "conflict", message, { result, ...(reason && { reason }) });
}

/** Returns what was thrown as an error of this package. */
export function asError(
  thrown: unknown,
  signal?: AbortSignal,
  message = "the server cannot be reached",
  code: ErrorCode = "unavailable",
): SpoolError {
  if (thrown instanceof SpoolError) return thrown;
  if (signal?.aborted) return new SpoolError("canceled", "Canceled", { cause: thrown });
  return new SpoolError(code, message, { cause: thrown });
}

/** Whether the server says that the thread does not exist. Any proxy can answer 404. */
export const isGone = (error: SpoolError) => error.code === "not_found" && error.native !== false;

/** Whether the same request may succeed later. */
export function passing(error: SpoolError): boolean {
  if (error.status === undefined) return error.code === "unavailable";
  return error.status === 429 || (error.status >= 502 && error.status <= 504);
}

function parsed(text: string): Refusal | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? (body as Refusal) : undefined;
  } catch {
    return undefined;
  }
}

const string = (value: unknown) => (typeof value === "string" ? value : "");

/** Messages of the server begin with the field that is wrong. */
function fieldOf(message: string): string {
  return (
    /^[a-z]\w*(?:\.\w+|\[\d+\])*(?=:| (?:is|are|must|has|have|names|holds|cannot|does|needs) )/.exec(message)?.[0] ?? ""
  );
}

const codes: Readonly<Record<number, ErrorCode>> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  410: "gone",
  429: "limit",
  408: "unavailable",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
  507: "storage_full",
};

function codeOf(status: number): ErrorCode {
  return codes[status] ?? (status >= 400 && status < 500 ? "invalid" : "internal");
}

function retryAfter(text: string | null): number | undefined {
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
