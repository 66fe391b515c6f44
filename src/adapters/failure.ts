import type { ModelFailure, ModelFailureKind } from "../contracts/model.ts";
import { type Fields, isFields } from "../base/fields.ts";
import { countOf, wordOf } from "./fields.ts";

/** Whether the same request may succeed later, by kind. */
const RETRYABLE: Readonly<Record<ModelFailureKind, boolean>> = {
  aborted: false,
  "rate-limited": true,
  "out-of-quota": false,
  overloaded: true,
  "provider-broken": true,
  "timed-out": true,
  unreachable: true,
  cut: true,
  unreadable: true,
  "too-long": false,
  "refused-request": false,
  "not-allowed": false,
};

/** Whether the model may have read a request that ended so before any of its answer came. */
const REACHED: Readonly<Record<ModelFailureKind, ModelFailure["reached"]>> = {
  aborted: "maybe",
  "rate-limited": "no",
  "out-of-quota": "no",
  overloaded: "no",
  "provider-broken": "maybe",
  "timed-out": "maybe",
  unreachable: "maybe",
  cut: "yes",
  unreadable: "yes",
  "too-long": "no",
  "refused-request": "no",
  "not-allowed": "no",
};

/** What a status means where the provider's own name of the error says no more. */
const BY_STATUS: Readonly<Record<number, ModelFailureKind>> = {
  401: "not-allowed",
  402: "out-of-quota",
  403: "not-allowed",
  408: "timed-out",
  409: "provider-broken",
  413: "too-long",
  429: "rate-limited",
  503: "overloaded",
  504: "timed-out",
  529: "overloaded",
};

/** An error of the two official SDKs, which come from one generator and share their shape. */
export interface SdkError {
  readonly message: string;
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** The provider's body, unwrapped. */
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly requestId: string | undefined;
  /** For providers that tell it in the body; otherwise it is read from the headers. */
  readonly retryAfterMs?: number | undefined;
  readonly cause: unknown;
  /** No answer of the provider stands behind it. */
  readonly connection: "timed-out" | "failed" | undefined;
  /** Where the request went; what of it may be secret is not told. */
  readonly address?: string | undefined;
  /** The message is the provider's own. */
  readonly told: boolean;
  /** Thrown by a parser, or by code that met what it did not expect: never the request's fault. */
  readonly nonsense: boolean;
  /** The class of the error, which says where to look when it is an adapter's own. */
  readonly maker: string;
}

/** The failure behind an error, by the provider's own names first, then by status. */
export function failureFrom(
  error: SdkError,
  named: (error: SdkError) => ModelFailureKind | undefined,
  begun: boolean,
): ModelFailure {
  const kind = named(error) ?? kindOf(error, begun);
  const code = error.code ?? error.type;
  const wait = error.retryAfterMs ?? (error.headers === undefined ? undefined : retryAfterMs(error.headers));
  const told = error.headers?.get("x-should-retry");
  return {
    kind,
    message: kind === "unreadable" ? unreadable(error.maker) : begun ? error.message : placed(error),
    retryable: told === "true" || (told !== "false" && RETRYABLE[kind]),
    reached: begun ? "yes" : NOBODY_LISTENED.has(systemCode(error.cause)) ? "no" : REACHED[kind],
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(code === undefined ? {} : { code }),
    ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
  };
}

export function failureOfKind(kind: ModelFailureKind, message: string, begun = false): ModelFailure {
  return { kind, message, retryable: RETRYABLE[kind], reached: begun ? "yes" : REACHED[kind] };
}

export function aborted(reached: ModelFailure["reached"]): ModelFailure {
  return { kind: "aborted", message: "The question was aborted.", retryable: false, reached };
}

export function cut(begun: boolean): ModelFailure {
  const message = begun ? "The answer broke off before its end." : "The answer ended before it began.";
  return { kind: "cut", message, retryable: true, reached: begun ? "yes" : "maybe" };
}

/** Reads an error of an SDK by its shape; whatever else was thrown is a broken connection or a broken answer. */
export function readSdkError(thrown: unknown, address?: string): SdkError {
  const fields = isFields(thrown) ? thrown : {};
  const body = isFields(fields["error"]) ? fields["error"] : {};
  const inner = isFields(body["error"]) ? body["error"] : body;
  const status = typeof fields["status"] === "number" ? fields["status"] : toldStatus(inner["code"]);
  const words = wordOf(inner["message"]) ?? wordOf(fields["error"]);
  const headers = fields["headers"] instanceof Headers ? fields["headers"] : undefined;
  const maker = (thrown as { readonly constructor?: { readonly name?: string } } | undefined)?.constructor?.name ?? "";
  return {
    message: words ?? wordOf(fields["message"]) ?? String(thrown),
    told: words !== undefined,
    status,
    headers,
    code: wordOf(inner["code"]),
    type: wordOf(inner["type"]),
    requestId: requestIdIn(fields, headers) ?? wordOf(body["request_id"]),
    retryAfterMs: countOf(fields["retryAfterMs"]),
    cause: fields["cause"],
    nonsense: !(thrown instanceof Error) || OWN_ERRORS.some((own) => thrown instanceof own),
    maker,
    connection: maker.includes("Timeout") ? "timed-out" : isUnconnected(thrown, maker) ? "failed" : undefined,
    address,
  };
}

/** In the middle of an answer the status is gone already: gateways then name it as the code of the error. */
export function toldStatus(code: unknown): number | undefined {
  const status = countOf(code);
  return status !== undefined && status >= 400 && status < 600 ? status : undefined;
}

/** A failure that stands where an answer was to come; read like any error of the SDK. */
export class ToldFailure extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super("The answer is an error.");
    this.error = error;
  }
}

/** What the language throws at code that is wrong, or met what it did not expect. No SDK refuses a request so. */
const OWN_ERRORS = [SyntaxError, TypeError, RangeError, ReferenceError, URIError, EvalError] as const;

/** By the name of an SDK's class, or by the words of Node's own `fetch`. */
function isUnconnected(thrown: unknown, maker: string): boolean {
  return maker.includes("Connection") || (thrown instanceof TypeError && thrown.message === "fetch failed");
}

/** For the provider's support: on the error as one SDK or another has it, or among the headers. */
function requestIdIn(fields: Fields, headers: Headers | undefined): string | undefined {
  const told = wordOf(fields["requestID"]) ?? wordOf(fields["requestId"]) ?? wordOf(fields["request_id"]);
  return told ?? headers?.get("x-request-id") ?? headers?.get("request-id") ?? undefined;
}

/** The parser quotes what it could not read, and that may be anything; its class quotes nothing. */
function unreadable(maker: string): string {
  const thrown = maker.endsWith("Error") && maker !== "Error" ? ` (${maker})` : "";
  return `What came back is no answer that this version can read${thrown}.`;
}

function kindOf(error: SdkError, begun: boolean): ModelFailureKind {
  const { status, connection, type, code, told, cause, nonsense, message } = error;
  if (connection === "timed-out") return "timed-out";
  if (connection === "failed") return begun ? "cut" : "unreachable";
  if (status !== undefined) return BY_STATUS[status] ?? (status >= 500 ? "provider-broken" : "refused-request");
  if (type !== undefined || code !== undefined || told) return "provider-broken"; // an error told inside the stream
  // A socket that went away under the answer is the cause of its error; an answer that makes no sense has none.
  if (cause !== undefined) return "cut";
  if (begun || nonsense) return "unreadable";
  // The SDK itself would not send it. Most often it has no key.
  return NO_KEY.test(message) ? "not-allowed" : "refused-request";
}

const NO_KEY = /api.?key|credential|authentication/i;

/** Many providers have no name for it: they say it in a sentence of their own, under a plain 400. */
const TOO_LONG =
  /context (length|window|limit|size)|(prompt|input) is too long|maximum prompt length|token count [^.]*exceeds|exceeded model token limit|too many (input )?tokens/i;
const NO_CREDIT = /credit balance is too low/i;

/** What a provider's names of errors mean, and its words where there is a status and no name that is known. */
export function kindNamed(
  names: Readonly<Record<string, ModelFailureKind>>,
): (error: SdkError) => ModelFailureKind | undefined {
  return (error) => {
    const known = names[error.code ?? ""] ?? names[error.type ?? ""];
    return known ?? (error.status === undefined ? undefined : kindInWords(error));
  };
}

/**
 * What a refusal means that only its words tell apart. A 429 is none: whoever is asked to wait for his tokens ("too many
 * tokens, please wait") would have his conversation shortened instead.
 */
export function kindInWords({ status, message }: SdkError): ModelFailureKind | undefined {
  if (status !== undefined && (status < 400 || status >= 500 || status === 429)) return undefined;
  if (TOO_LONG.test(message)) return "too-long";
  return NO_CREDIT.test(message) ? "out-of-quota" : undefined;
}

/** Nobody listened, so nobody read it. */
const NOBODY_LISTENED: ReadonlySet<string | undefined> = new Set(["ECONNREFUSED", "ENOTFOUND"]);

/** The system's own word for what went wrong: the innermost. */
function systemCode(cause: unknown): string | undefined {
  let code: string | undefined;
  for (let error: unknown = cause; isFields(error); error = error["cause"]) code = wordOf(error["code"]) ?? code;
  return code;
}

/** No provider said anything: without the address and the system's word nobody could tell a wrong port from a dead line. */
function placed({ connection, message, address = "", cause }: SdkError): string {
  if (connection === undefined) return message;
  const where = URL.parse(address);
  const code = systemCode(cause) ?? "";
  const at = where === null ? "" : ` at ${where.origin}${where.pathname}`;
  return `${message.replace(/\.$/, "")}${at}${message.includes(code) ? "" : `: ${code}`}`;
}

/** Seconds, a date (measured against the provider's own clock, not ours), or milliseconds. */
export function retryAfterMs(headers: Headers): number | undefined {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const wait = Date.parse(after) - Date.parse(headers.get("date") ?? "");
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
