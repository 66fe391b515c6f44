import { APIConnectionError, APIConnectionTimeoutError, APIError } from "openai";
import { expect, test } from "vitest";
import { failureOf as aiSdkFailure } from "../../src/adapters/ai-sdk/errors.ts";
import { failureOf as anthropicFailure } from "../../src/adapters/anthropic/errors.ts";
import { retryAfterMs } from "../../src/adapters/failure.ts";
import { failureOf as openaiFailure } from "../../src/adapters/openai/errors.ts";

test("[ADAPT-10] how long to wait is read from seconds, milliseconds and dates, by the provider's own clock", () => {
  const date = "Sun, 01 Nov 2026 10:00:00 GMT";
  const later = "Sun, 01 Nov 2026 10:00:30 GMT";
  expect(retryAfterMs(new Headers({ "retry-after": "1.5" }))).toBe(1500);
  expect(retryAfterMs(new Headers({ "retry-after-ms": "250", "retry-after": "9" }))).toBe(250);
  expect(retryAfterMs(new Headers({ "retry-after": later, date }))).toBe(30_000);
  expect(retryAfterMs(new Headers({ "retry-after": date, date: later }))).toBe(0);
  expect(retryAfterMs(new Headers({ "retry-after": later }))).toBeUndefined();
  expect(retryAfterMs(new Headers({ "retry-after": "soon" }))).toBeUndefined();
  expect(retryAfterMs(new Headers())).toBeUndefined();
});

test("[ADAPT-50] how long to wait is read from the details of an error, where a provider says it nowhere else", () => {
  const details = [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.074824224s" },
  ];
  const body = {
    error: { code: 429, message: "You exceeded your current quota.", status: "RESOURCE_EXHAUSTED", details },
  };
  const refused = new Error("quota");
  const bySdk = Object.assign(refused, { statusCode: 429, responseBody: JSON.stringify(body), responseHeaders: {} });
  expect(aiSdkFailure(bySdk, false)).toMatchObject({ kind: "rate-limited", retryable: true, retryAfterMs: 34_075 });
  const byOpenAi = APIError.generate(429, body, "no", new Headers());
  expect(openaiFailure(byOpenAi, false)).toMatchObject({ kind: "rate-limited", retryAfterMs: 34_075 });
  for (const odd of [undefined, "34s", [null, { retryDelay: 34 }, { retryDelay: "soon" }]]) {
    const error = APIError.generate(429, { error: { message: "no", details: odd } }, "no", new Headers());
    expect(openaiFailure(error, false)).not.toHaveProperty("retryAfterMs");
  }
});

test("[ADAPT-10] a provider that says whether to try again is believed", () => {
  const told = (word: string) => new Headers({ "x-should-retry": word });
  const error = (status: number, word: string) => APIError.generate(status, { error: {} }, "no", told(word));
  expect(openaiFailure(error(500, "false"), false)).toMatchObject({ kind: "provider-broken", retryable: false });
  expect(openaiFailure(error(400, "true"), false)).toMatchObject({ kind: "refused-request", retryable: true });
});

test("[ADAPT-10] every status has its kind, also those that no table of names knows", () => {
  const kindOf = (status: number) =>
    openaiFailure(APIError.generate(status, { error: { message: "no" } }, "no", new Headers()), false).kind;
  expect([401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529].map(kindOf)).toEqual([
    "not-allowed",
    "out-of-quota",
    "not-allowed",
    "refused-request",
    "timed-out",
    "provider-broken",
    "too-long",
    "refused-request",
    "rate-limited",
    "provider-broken",
    "provider-broken",
    "overloaded",
    "timed-out",
    "overloaded",
  ]);
});

test("[ADAPT-10] nobody read what nobody listened to, and a time-out is no refusal", () => {
  const refused = new APIConnectionError({ cause: new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } }) });
  expect(openaiFailure(refused, false)).toMatchObject({ kind: "unreachable", reached: "no", retryable: true });
  const reset = new APIConnectionError({ cause: new Error("reset") });
  expect(openaiFailure(reset, false)).toMatchObject({ kind: "unreachable", reached: "maybe" });
  expect(openaiFailure(reset, true)).toMatchObject({ kind: "cut", reached: "yes" });
  expect(openaiFailure(new APIConnectionTimeoutError(), false)).toMatchObject({ kind: "timed-out", reached: "maybe" });
});

test("[ADAPT-44] a question that nobody answered is told with the address it went to, and with nothing secret of that", () => {
  const refused = new APIConnectionError({ cause: new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } }) });
  const to = "https://me:hunter2@host:8080/v1?key=hunter3";
  const told = "Connection error at https://host:8080/v1: ECONNREFUSED";
  expect(openaiFailure(refused, false, to).message).toBe(told);
  expect(anthropicFailure(refused, false, to).message).toBe(told);
  expect(openaiFailure(new APIConnectionTimeoutError(), false, to).message).toBe(
    "Request timed out at https://host:8080/v1",
  );
  expect(openaiFailure(refused, false).message).toBe("Connection error: ECONNREFUSED");
  expect(openaiFailure(refused, false, "no address").message).toBe("Connection error: ECONNREFUSED");
  // What a provider said, or what came before it broke off, is not a matter of where it was asked.
  expect(openaiFailure({ status: 400, error: { message: "No." } }, false, to).message).toBe("No.");
  expect(openaiFailure(refused, true, to).message).toBe("Connection error.");
  const sdk = { name: "AI_APICallError", message: "Cannot connect to API: connect ECONNREFUSED", url: to };
  expect(aiSdkFailure(Object.assign(new Error(sdk.message, { cause: refused }), sdk), false).message).toBe(
    "Cannot connect to API: connect ECONNREFUSED at https://host:8080/v1",
  );
});

test("[ADAPT-10] a context that is too long is told apart from other refusals, in every server's words", () => {
  const refusal = (message: string) => ({ status: 400, error: { message, type: "invalid_request_error" } });
  const texts = [
    "This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
    "the request exceeds the available context window",
    "Too many input tokens",
  ];
  for (const text of texts) expect(openaiFailure(refusal(text), false).kind).toBe("too-long");
  expect(openaiFailure(refusal("Unknown parameter: 'foo'"), false).kind).toBe("refused-request");
  const body = (message: string) => ({
    status: 400,
    error: { type: "error", error: { type: "invalid_request_error", message } },
  });
  expect(anthropicFailure(body("prompt is too long: 210000 tokens > 200000 maximum"), false).kind).toBe("too-long");
  expect(anthropicFailure(body("input length and `max_tokens` exceed context limit: 1 + 2 > 2"), false).kind).toBe(
    "too-long",
  );
  expect(anthropicFailure(body("messages.0: odd"), false).kind).toBe("refused-request");
});

test("[ADAPT-10] whoever stands behind an adapter may say in its own words that a request is too long", () => {
  const texts = [
    "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
    "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length and try again",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Input is too long for requested model.",
    "the request exceeds the available context size, try increasing it",
    "Invalid request: Your request exceeded model token limit: 131072",
  ];
  for (const message of texts) expect([message, ...inWords({ message })]).toEqual([message, ...all("too-long")]);
  expect(inWords({ message: "no", type: "exceed_context_size_error" })).toEqual(["too-long", "too-long", REFUSED]);
  expect(inWords({ message: "max_tokens is too large: this model supports 16384" })).toEqual(all(REFUSED));
  const credit = "Your credit balance is too low to access the Anthropic API.";
  expect(inWords({ message: credit, type: "invalid_request_error" })).toEqual(all("out-of-quota"));
});

test("[ADAPT-10] whoever is asked to wait for tokens is not told that the request is too long", () => {
  expect(inWords({ message: "Too many tokens, please wait before trying again." }, 429)).toEqual(all("rate-limited"));
});

const REFUSED = "refused-request";

function all(kind: string): readonly string[] {
  return [kind, kind, kind];
}

/** What the adapters of OpenAI, the AI SDK and Anthropic make of one error. */
function inWords(error: { readonly message: string; readonly type?: string }, status = 400): readonly string[] {
  const called = { name: "AI_APICallError", statusCode: status, responseBody: JSON.stringify({ error }) };
  return [
    openaiFailure({ status, error }, false).kind,
    aiSdkFailure(Object.assign(new Error(error.message), called), false).kind,
    anthropicFailure({ status, error: { type: "error", error } }, false).kind,
  ];
}

test("[ADAPT-10] a provider's own name of an error means the same where the AI SDK stands before it", () => {
  const kindOf = (statusCode: number, error: object) =>
    aiSdkFailure(Object.assign(new Error("no"), { statusCode, responseBody: JSON.stringify({ error }) }), false).kind;
  expect(kindOf(429, { message: "no", code: "billing_hard_limit_reached" })).toBe("out-of-quota");
  expect(kindOf(500, { message: "no", type: "not_found_error" })).toBe("refused-request");
  expect(kindOf(400, { message: "no", type: "overloaded_error" })).toBe("overloaded");
});

test("[ADAPT-10] what could not be read is never quoted", () => {
  const failure = openaiFailure(new SyntaxError('Unexpected token in "the secret text"'), true);
  expect(failure).toMatchObject({ kind: "unreadable", reached: "yes", retryable: true });
  expect(failure.message).not.toContain("secret");
});

test("[ADAPT-10] an adapter's own mistake is never blamed on the request, and its class is told", () => {
  for (const thrown of [new RangeError("Invalid array length"), new ReferenceError("x"), new URIError("malformed")]) {
    const failure = openaiFailure(thrown, false);
    expect(failure.kind).toBe("unreadable");
    expect(failure.message).toContain(thrown.name);
    expect(failure.message).not.toContain(thrown.message);
  }
});

test("[ADAPT-10] a request id is found on the error, among its headers and in its body", () => {
  const idOf = (thrown: object) =>
    openaiFailure(Object.assign(new Error("no"), { status: 500 }, thrown), false).requestId;
  for (const field of ["requestID", "requestId", "request_id"]) expect(idOf({ [field]: "req_1" })).toBe("req_1");
  for (const name of ["x-request-id", "request-id"])
    expect(idOf({ headers: new Headers({ [name]: "req_2" }) })).toBe("req_2");
  expect(idOf({ error: { request_id: "req_3", error: {} } })).toBe("req_3");
  expect(idOf({})).toBeUndefined();
});

test("[ADAPT-10] a wait that the provider tells in its body is told, and wins over none", () => {
  const refused = Object.assign(new Error("no"), { status: 429, retryAfterMs: 1200 });
  expect(openaiFailure(refused, false)).toMatchObject({ kind: "rate-limited", retryAfterMs: 1200 });
});

test("[ADAPT-10] Node's own fetch is read without an SDK: nobody there, and a line that closed under the answer", async () => {
  const nobody = await fetch("http://127.0.0.1:1/").catch((error: unknown) => error);
  expect(openaiFailure(nobody, false)).toMatchObject({ kind: "unreachable", retryable: true });
  expect(openaiFailure(new TypeError("terminated", { cause: new Error("closed") }), false).kind).toBe("cut");
});

test("[ADAPT-10] whatever is thrown, it becomes a failure", () => {
  for (const thrown of [undefined, null, "text", 7, {}]) expect(openaiFailure(thrown, false).kind).toBe("unreadable");
});

test("[ADAPT-10] what the SDK itself would not send never reached anybody, and a missing key is told as one", () => {
  expect(anthropicFailure(new Error("Streaming is required for operations that may take long"), false)).toMatchObject({
    kind: "refused-request",
    reached: "no",
    retryable: false,
    message: "Streaming is required for operations that may take long",
  });
  expect(openaiFailure(new Error("Missing credentials. Please pass an `apiKey`."), false).kind).toBe("not-allowed");
});
