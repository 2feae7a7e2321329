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
  readonly code: ErrorCode;
  /** The HTTP status. Undefined: there was no answer. */
  readonly status?: number;
  /** Why a result is a refusal, such as `active_run`. */
  readonly reason?: string;
  /** The field of the request that is wrong, such as `attachments[0].url`. */
  readonly field?: string;
  /** How long the server asks to wait before the same request. */
  readonly retryAfterMs?: number;
  /** The server's id of the request, for a question about it. */
  readonly requestId?: string;
  /** The result that is a refusal. */
  readonly result?: unknown;
  /** The answer has the form of an agent server's, and not that of a proxy in front of it. */
  readonly native?: boolean;

  constructor(code: ErrorCode, message: string, fields: ErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = code;
    const { cause: _, ...rest } = fields;
    Object.assign(this, rest);
  }
}
