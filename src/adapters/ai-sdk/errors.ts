import { parseJson } from "../../base/json.ts";
import type { ModelFailure } from "../../contracts/model.ts";
import { type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import { ANTHROPIC_ERRORS, OPENAI_ERRORS } from "../error-names.ts";
import { failureFrom, kindNamed, retryDelayMs, type SdkError, toldStatus } from "../failure.ts";
import { countOf, wordOf } from "../fields.ts";

/** The names of all that the SDK may stand before. */
const NAMED = { ...OPENAI_ERRORS, ...ANTHROPIC_ERRORS };

/** What the SDK itself would not send. */
const UNSENT: readonly string[] = [
  "AI_LoadAPIKeyError",
  "AI_LoadSettingError",
  "AI_InvalidArgumentError",
  "AI_InvalidPromptError",
  "AI_NoSuchModelError",
  "AI_UnsupportedFunctionalityError",
];
/** What it could not read. */
const UNREAD: readonly string[] = ["AI_JSONParseError", "AI_TypeValidationError", "AI_InvalidResponseDataError"];

export function failureOf(thrown: unknown, begun: boolean): ModelFailure {
  return failureFrom(readError(thrown), kindNamed(NAMED), begun);
}

/** The SDK's own errors name status, headers and body; an error told inside the stream may be any value. */
function readError(thrown: unknown): SdkError {
  const fields = fieldsOf(thrown);
  const body = bodyOf(thrown);
  const code = countOf(fields["statusCode"]);
  // A body that was promised with a 200 and broke off under the reader: no answer of the provider stands behind it.
  const status = (code === undefined || code < 400 ? undefined : code) ?? toldStatus(body["code"]);
  const headers = headersIn(fields["responseHeaders"]);
  const requestId = headers.get("x-request-id") ?? headers.get("request-id") ?? wordOf(body["request_id"]);
  const names = namesOf(thrown);
  const unread = names.some((name) => UNREAD.includes(name));
  return {
    told: wordOf(body["message"]) !== undefined,
    message: wordOf(body["message"]) ?? wordOf(fields["message"]) ?? String(thrown),
    status,
    headers,
    code: wordOf(body["code"]),
    type: wordOf(body["type"]),
    requestId: requestId ?? undefined,
    retryAfterMs: retryDelayMs(body),
    cause: unread ? undefined : fields["cause"],
    connection:
      status === undefined && code === undefined && !unread && fields["cause"] !== undefined ? "failed" : undefined,
    address: wordOf(fields["url"]),
    maker: names[0] ?? "",
    nonsense: unread || !names.some((name) => UNSENT.includes(name)),
  };
}

/** Somebody's own model may put anything there: what no header can be tells nothing, and stops nobody from being told. */
function headersIn(given: unknown): Headers {
  const told = given instanceof Headers ? [...given] : Object.entries(fieldsOf(given));
  const usable = told.flatMap(([name, value]) =>
    typeof value === "string" && A_NAME.test(name) && A_VALUE.test(value) ? [[name, value] as const] : [],
  );
  return new Headers(Object.fromEntries(usable));
}

const A_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const A_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The provider's error, unwrapped: as the text of a response, as data, or as the very value of a stream. */
function bodyOf(thrown: unknown): Fields {
  const fields = fieldsOf(thrown);
  const text = wordOf(fields["responseBody"]);
  const parsed = text === undefined ? undefined : parseJson(text);
  const said = parsed?.ok === true ? parsed.value : (fields["data"] ?? fields["value"]);
  const body = fieldsOf(said ?? (thrown instanceof Error ? undefined : thrown));
  return isFields(body["error"]) ? body["error"] : body;
}

/** The names of an error and of what caused it. */
function namesOf(thrown: unknown): readonly string[] {
  const names: string[] = [];
  for (let error = thrown; error instanceof Error; error = error.cause) names.push(error.name);
  return names;
}
