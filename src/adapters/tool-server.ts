import { inWords } from "../base/words.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { objectSchema } from "../base/object-schema.ts";
import {
  badOption,
  checkOptions,
  FUNCTION,
  having,
  OBJECT,
  type OptionRule,
  type OptionRules,
  TEXT,
} from "../base/options.ts";
import {
  type CallLimits,
  type CallOutcome,
  HoldfastError,
  type ResultPart,
  type Session,
  type Tool,
} from "../index.ts";
import { wordOf } from "./fields.ts";
import { fieldsOf } from "../base/fields.ts";
import { unlessAborted } from "../base/unless-aborted.ts";

/**
 * The connection to a client, by its shape: the transports of both versions of the MCP SDK fit, and so do those of the
 * Claude Agent SDK.
 */
export interface McpTransport {
  start(): Promise<void>;
  send(message: never): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never) => void) | undefined;
  onclose?: (() => void) | undefined;
}

/** Options of `serveTools`. */
export interface ServeOptions {
  /** Which of the session's tools are served. Default: all that are offered. */
  readonly tools?: (tool: Tool) => boolean;
  readonly name?: string;
  /**
   * Whether somebody has consented to a call of a tool that needs consent. Default: such calls are denied, because a
   * host that runs whatever its model says would run them too.
   */
  readonly consents?: (call: ServedCall) => boolean | Promise<boolean>;
  /** Metadata that is sent with each tool, beyond what the protocol defines. */
  readonly meta?: JsonObject;
}

/** Misspelt, `tools` would serve all there are. */
const SERVE_OPTIONS: OptionRules<ServeOptions> = { tools: FUNCTION, name: TEXT, consents: FUNCTION, meta: OBJECT };
const SESSION: OptionRule = { ...having("runTool", "begin"), wants: "a session, as `holdfast.open` returns it" };

/** A call made by a host. */
export interface ServedCall {
  readonly tool: string;
  readonly input: unknown;
  /** The host's own id of the call, if it sent one. */
  readonly alias?: string;
}

/** Whether somebody must consent before it runs. What will not run anyway needs nobody's consent. */
export async function needsConsent({ catalog }: Session, tool: Tool, given: unknown): Promise<boolean> {
  const parsed = await tool.parse(given).catch(() => undefined); // told when the call is attempted
  if (parsed?.ok !== true || catalog.denial({ tool, input: parsed.input }) !== undefined) return false;
  return (await tool.waitsFor(parsed.input)) === "approval";
}

/** A session's tools as an MCP server. Whatever host calls one, the call runs as a transaction of the session. */
export interface ToolServer {
  connect(transport: McpTransport): Promise<void>;
  /** Tells every client that the tools or the mode have changed. */
  toolsChanged(): Promise<void>;
  close(): Promise<void>;
}

/** Versions of the protocol that these messages belong to; a client that knows none of them is offered the newest. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Serves a session's tools over the Model Context Protocol. */
export function serveTools(session: Session, options: ServeOptions = {}): ToolServer {
  if (!SESSION.fits(session)) throw badOption("session", session, SESSION.wants);
  checkOptions(options, SERVE_OPTIONS);
  const lines = new Set<Line>();
  return {
    connect: async (transport) => {
      const line = new Line(session, options, transport);
      const forget = () => void lines.delete(line);
      lines.add(line);
      await line.open(forget).catch((error: unknown) => {
        forget();
        throw error;
      });
    },
    toolsChanged: () => toAll(lines, (line) => line.tell("notifications/tools/list_changed")),
    close: () => toAll(lines, (line) => line.close()),
  };
}

/** A line that is broken keeps nobody else from hearing; it is told when all the others have heard. */
async function toAll(lines: ReadonlySet<Line>, tell: (line: Line) => Promise<void>): Promise<void> {
  const told = await Promise.allSettled([...lines].map(tell));
  const [failure, ...more] = told.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  if (more.length > 0) throw new AggregateError([failure, ...more], "Several clients could not be reached.");
  if (failure !== undefined) throw failure;
}

/** A call of a client's, by the id of its request, until it has ended in the journal. */
interface RunningCall {
  readonly id: unknown;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

class Line {
  readonly #session: Session;
  readonly #options: ServeOptions;
  readonly #transport: McpTransport;
  readonly #running = new Set<RunningCall>();

  constructor(session: Session, options: ServeOptions, transport: McpTransport) {
    this.#session = session;
    this.#options = options;
    this.#transport = transport;
  }

  async open(closed: () => void): Promise<void> {
    const before = this.#transport.onclose;
    this.#transport.onclose = () => {
      this.#stop();
      closed();
      before?.();
    };
    // An answer that cannot be sent has nobody left to hear it: the call is closed in the journal all the same.
    this.#transport.onmessage = (message: unknown) => void this.#hear(fieldsOf(message)).catch(() => {});
    await this.#transport.start();
  }

  /** Whoever closes it finds no call of its client's open. */
  async close(): Promise<void> {
    try {
      await this.#transport.close();
    } finally {
      this.#stop();
      await Promise.all([...this.#running].map(({ ended }) => ended));
    }
  }

  #stop(): void {
    for (const { stop } of this.#running) stop.abort(GONE);
  }

  async tell(method: string, params: JsonObject = {}): Promise<void> {
    await this.#send({ jsonrpc: "2.0", method, params });
  }

  async #hear({ id, method, params }: Readonly<Record<string, unknown>>): Promise<void> {
    const given = fieldsOf(params);
    if (method === "notifications/cancelled")
      for (const running of this.#running) if (running.id === given["requestId"]) running.stop.abort(CANCELED);
    if (id === undefined || typeof method !== "string") return; // a notification wants no answer
    const stop = new AbortController();
    try {
      const result = await this.#answer(method, given, id, stop);
      if (stop.signal.aborted) return; // nor does whoever canceled, or is gone
      await this.#send({ jsonrpc: "2.0", id: id as Json, result });
    } catch (error) {
      if (stop.signal.aborted) return;
      const code = error instanceof UnknownMethod ? -32601 : HoldfastError.is(error, "BAD_OPTION") ? -32602 : -32603;
      const message = inWords(error);
      await this.#send({ jsonrpc: "2.0", id: id as Json, error: { code, message } });
    }
  }

  async #answer(
    method: string,
    params: Readonly<Record<string, unknown>>,
    id: unknown,
    stop: AbortController,
  ): Promise<JsonObject> {
    switch (method) {
      case "initialize": {
        const asked = wordOf(params["protocolVersion"]) ?? "";
        const protocolVersion = VERSIONS.includes(asked) ? asked : (VERSIONS[0] as string);
        const serverInfo = { name: this.#options.name ?? "holdfast", version: "1.0.0" };
        return { protocolVersion, capabilities: { tools: { listChanged: true } }, serverInfo };
      }
      case "ping":
        return {};
      case "tools/list":
        await this.#session.catalog.sync("a host was offered these tools"); // the journal has what was offered, word for word
        return { tools: this.#offered() as unknown as Json };
      case "tools/call":
        return contentOf(await this.#followed(id, stop, this.#call(params, stop.signal)));
      default:
        throw new UnknownMethod(`There is no ${method} here.`);
    }
  }

  /** As a request would offer them now: in plan mode, what plan mode offers. */
  #offered(): readonly object[] {
    const { catalog, transactions } = this.#session;
    const { tools = () => true, meta } = this.#options;
    return (catalog.snapshot().tools ?? []).flatMap(({ name, description = "", input }) => {
      const tool = transactions.tool(name);
      if (tool === undefined || !tools(tool)) return [];
      const annotations = { readOnlyHint: tool.access === "read", destructiveHint: tool.access !== "read" };
      return [
        {
          name,
          description,
          inputSchema: { type: "object", ...objectSchema(input) },
          annotations,
          ...(meta === undefined ? {} : { _meta: meta }),
        },
      ];
    });
  }

  async #followed<T>(id: unknown, stop: AbortController, call: Promise<T>): Promise<T> {
    const running = { id, stop, ended: call.catch(() => {}) };
    this.#running.add(running);
    try {
      return await call;
    } finally {
      this.#running.delete(running);
    }
  }

  async #call(params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallOutcome> {
    const name = wordOf(params["name"]) ?? "";
    const tool = this.#session.transactions.tool(name);
    const { tools = () => true } = this.#options;
    // One that is not there is closed like any other bad call, so that the journal has it.
    if (tool !== undefined && !tools(tool)) throw new HoldfastError("BAD_OPTION", { option: "name", value: name });
    const { progressToken, ["claudecode/toolUseId"]: id } = fieldsOf(params["_meta"]);
    const alias = wordOf(id);
    const input = params["arguments"] ?? {};
    const named = alias === undefined ? {} : { alias };
    const mayRun = tool === undefined || (await this.#consented(tool, { tool: name, input, ...named }, signal));
    const denied = mayRun
      ? {}
      : { denied: `${name} needs somebody's consent, and nobody was asked, so it did not run.` };
    const onProgress = this.#progressTo(progressToken, signal);
    return this.#session.runTool({ name, input, ...named, ...denied }, { signal, ...onProgress });
  }

  /** For a client that asked to hear of it: many give up a call that takes long without a word. */
  #progressTo(progressToken: unknown, signal: AbortSignal): Pick<CallLimits, "onProgress"> {
    if (typeof progressToken !== "string" && typeof progressToken !== "number") return {};
    let progress = 0;
    const onProgress = (message: string) => {
      if (signal.aborted) return;
      progress += 1;
      this.tell("notifications/progress", { progressToken, progress, message }).catch(() => {}); // the line is broken
    };
    return { onProgress };
  }

  /** Whoever is asked may take their time, and nobody waits for them once the client has gone. */
  async #consented(tool: Tool, call: ServedCall, signal: AbortSignal): Promise<boolean> {
    if (!(await needsConsent(this.#session, tool, call.input))) return true;
    const { consents } = this.#options;
    return (
      (await unlessAborted(
        signal,
        async () => consents?.(call),
        () => false,
      )) === true
    );
  }

  #send(message: JsonObject): Promise<void> {
    return this.#transport.send(message as never);
  }
}

class UnknownMethod extends Error {}

const GONE = new Error("The client is gone.");
const CANCELED = new Error("The client canceled the call.");

function contentOf({ ok, output, parts }: CallOutcome): JsonObject {
  const words = typeof output === "string" ? output : JSON.stringify(output);
  const content = parts === undefined ? [{ type: "text", text: words }] : parts.map(blockOf);
  return { content: content as unknown as Json, ...(ok ? {} : { isError: true }) };
}

function blockOf(part: ResultPart): object {
  if (part.type === "text") return { type: "text", text: part.text };
  const data = Buffer.from(part.bytes).toString("base64");
  const { mediaType: mimeType, name, blob } = part;
  if (part.type !== "file") return { type: part.type, data, mimeType };
  return { type: "resource", resource: { uri: `holdfast:${blob.name}/${name ?? "file"}`, mimeType, blob: data } };
}
