import { isFields } from "../../base/fields.ts";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ClockDep, SystemClock } from "../../base/clock.ts";
import { profileOf } from "../../index.ts";
import { isFault, type Script, type ScriptedFault, stepFor } from "../../records/script.ts";
import { anthropicDialect } from "./anthropic.ts";
import { type Body, type Dialect, frame, nameIn, type Refusal, type Telling } from "./dialect.ts";
import { judge } from "./judge.ts";
import type { RequestLog, SeenRequest } from "./log.ts";
import { openaiChatDialect, openaiCompatibleDialect } from "./openai-chat.ts";
import { openaiResponsesDialect } from "./openai-responses.ts";
import { sealsIn } from "./seal.ts";
import { begin, type Line, refuse, speak, written } from "./speak.ts";

/** Options of `startProviderServer`. */
export interface ProviderServerOptions extends Partial<ClockDep> {
  /** What the server answers: one step for each request that it accepts. Requests that it refuses use up no step. */
  readonly script: Script;
  /** The only API key that it accepts. Default: any. */
  readonly apiKey?: string;
  /**
   * Requests of more tokens than this (counted as a quarter of their characters) are refused as too long. Default: no
   * limit.
   */
  readonly contextTokens?: number;
  /**
   * The number of its first answer; ids are made from it. Set it when this server takes the place of another, so that
   * ids do not repeat. Default 0.
   */
  readonly first?: number;
  /** How many of the newest requests it remembers. Default: all, which leaks memory in a server that runs for long. */
  readonly remember?: number;
  /** Judges chat requests as servers do that only imitate OpenAI's API. Default `false`. */
  readonly compatible?: boolean;
  /** Further dialects besides chat, responses and messages. The first dialect that answers a path is used. */
  readonly dialects?: readonly Dialect[];
}

/** A provider on this machine: it refuses what the real ones refuse, and answers as its script says. */
export interface ProviderServer extends AsyncDisposable {
  /** `http://127.0.0.1:…`, without `/v1`. */
  readonly url: string;
  /** Every request so far, including refused ones; with `remember`, only the newest. */
  readonly requests: readonly SeenRequest[];
  /**
   * The requests that were answered with a status of 400 or above: malformed ones, and those that the script refused.
   */
  readonly refused: readonly SeenRequest[];
  /** How many clients are connected. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** Starts a provider server on a free port of 127.0.0.1. */
export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const desk = new Desk(options);
  const server = createServer((request, response) => void desk.serve(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () => closeServer(server, desk);
  return {
    url: `http://127.0.0.1:${port}`,
    requests: desk.requests,
    get refused() {
      return desk.requests.filter((request) => request.status >= 400);
    },
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function closeServer(server: Server, desk: Desk): Promise<void> {
  desk.closing.abort();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

/** Takes requests one by one: read, judged, answered, written down. */
class Desk {
  readonly requests: RequestLog[] = [];
  readonly closing = new AbortController();
  readonly #options: ProviderServerOptions;
  readonly #dialects: readonly Dialect[];
  #taken: number;

  constructor(options: ProviderServerOptions) {
    this.#options = options;
    this.#taken = options.first ?? 0;
    const chat = options.compatible === true ? openaiCompatibleDialect : openaiChatDialect;
    this.#dialects = [...(options.dialects ?? []), chat, openaiResponsesDialect, anthropicDialect];
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const dialect = this.#dialects.find((one) => one.path.test(path) && request.method === "POST");
    const profile = dialect && profileOf(dialect.profile).id;
    const seen: RequestLog = { path, profile, body: undefined, seals: [], status: 0, rules: [], ended: "open" };
    this.requests.push(seen);
    if (this.requests.length > (this.#options.remember ?? Number.POSITIVE_INFINITY)) this.requests.shift();
    const gone = new AbortController();
    const { clock = new SystemClock() } = this.#options;
    const leave = () => gone.abort();
    this.closing.signal.addEventListener("abort", leave, { once: true });
    response.on("close", () => {
      if (seen.ended === "open") seen.ended = response.writableFinished ? "answered" : "left";
      leave();
      this.closing.signal.removeEventListener("abort", leave);
    });
    try {
      await this.#answer(request, dialect, seen, { response, clock, gone: gone.signal });
    } catch (error) {
      if (!gone.signal.aborted && !response.destroyed) await fail(response, seen, error);
    }
  }

  async #answer(request: IncomingMessage, dialect: Dialect | undefined, seen: RequestLog, line: Line): Promise<void> {
    const text = await bodyText(request);
    const body = parsed(text);
    seen.body = body ?? text;
    if (dialect === undefined) return refused(line, seen, NOT_FOUND);
    if (body !== undefined) seen.asked = dialect.asked(body);
    const telling = telltale(dialect, body ?? {}, this.#taken);
    const refusal = this.#refusal(dialect, new Headers(headersOf(request)), text, body, seen);
    if (refusal !== undefined) return refused(line, seen, refusal);
    this.#taken += 1;
    const step = await stepFor(this.#options.script, { nth: telling.nth, request: body });
    if (isFault(step)) return strike(line, seen, dialect, step, telling);
    seen.status = 200;
    seen.seals = sealsIn(dialect.whole(step, telling));
    const left = await speak(line, dialect, step, telling, seen.path);
    if (left === "cut") seen.ended = "cut";
  }

  /** In a provider's order: who asks, whether it can be read, whether it is well-formed, whether it fits. */
  #refusal(
    dialect: Dialect,
    headers: Headers,
    text: string,
    body: Body | undefined,
    seen: RequestLog,
  ): Refusal | undefined {
    const { apiKey, contextTokens = Number.POSITIVE_INFINITY } = this.#options;
    const caller = dialect.refuseCaller(headers, apiKey);
    if (caller !== undefined) return caller;
    if (body === undefined) return dialect.refusal("refused-request", undefined);
    const verdict = judge(body, dialect);
    if (verdict !== undefined) {
      seen.rules = verdict.rules;
      return dialect.refusal("refused-request", verdict.message);
    }
    return text.length / CHARACTERS_PER_TOKEN > contextTokens ? dialect.refusal("too-long", undefined) : undefined;
  }
}

const CHARACTERS_PER_TOKEN = 4;

/** A fault of the script, before anything was said or after an answer had begun. */
async function strike(
  line: Line,
  seen: RequestLog,
  dialect: Dialect,
  step: ScriptedFault,
  telling: Telling,
): Promise<void> {
  const { fault, retryAfter, after } = step;
  if (after !== undefined) {
    seen.status = 200;
    await begin(line, dialect, after, telling);
  }
  if (fault === "silent") return;
  if (fault === "hang-up") {
    seen.ended = "cut";
    line.response.destroy();
  } else if (fault === "unreadable") {
    seen.status = 200;
    if (after === undefined) line.response.writeHead(200, { "content-type": "text/event-stream" });
    await written(line.response, 'event: content_block_delta\ndata: {"type": "content_blo\n\n');
    line.response.end();
  } else if (after !== undefined) {
    await written(line.response, frame(dialect.broken(dialect.refusal(fault, undefined))));
    line.response.end();
  } else {
    const refusal = dialect.refusal(fault, undefined);
    const wait: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    await refused(line, seen, { ...refusal, headers: { ...refusal.headers, ...wait } });
  }
}

const NOT_FOUND: Refusal = {
  status: 404,
  headers: {},
  body: { error: { type: "not_found_error", message: "Not found", code: "unknown_url", param: null } },
};

async function refused(line: Line, seen: RequestLog, refusal: Refusal): Promise<void> {
  seen.status = refusal.status;
  const { error } = refusal.body as { readonly error?: { readonly message?: string } };
  seen.refusal = error?.message ?? JSON.stringify(refusal.body);
  await refuse(line, refusal);
}

/** The script itself failed: said to the client, so that no test waits for an answer that cannot come. */
async function fail(response: ServerResponse, seen: RequestLog, error: unknown): Promise<void> {
  seen.status = 500;
  seen.refusal = String(error);
  const words = { message: String(error), type: "script_error", code: "script_error", param: null };
  if (!response.headersSent) response.writeHead(500, { "content-type": "application/json", "x-should-retry": "false" });
  await written(response, JSON.stringify({ type: "error", error: words }));
  response.end();
}

function telltale(dialect: Dialect, body: Body, nth: number): Telling {
  return { nth, body, profile: profileOf(dialect.profile).id, model: nameIn(body["model"]) };
}

function parsed(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function bodyText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function headersOf(request: IncomingMessage): [string, string][] {
  return Object.entries(request.headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []));
}
