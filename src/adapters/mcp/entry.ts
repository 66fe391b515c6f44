/** `holdfast/adapters/mcp`: the tools of any MCP client as tools of a session. */
import { HoldfastError } from "../../base/errors.ts";
import { fingerprint } from "../../base/fingerprint.ts";
import { ANYTHING, badOption, BOOLEAN, checkOptions, having, type OptionRule, whole } from "../../base/options.ts";
import type { ToolAccess } from "../../contracts/tool-access.ts";
import type { Session, Tool } from "../../index.ts";
import { each, onToolsChanged } from "./listening.ts";
import { wrapTool } from "./tool.ts";
import type { McpClient, McpTool } from "./vendor.ts";

export { type McpTransport, type ServedCall, type ServeOptions, serveTools, type ToolServer } from "../tool-server.ts";
export type { McpClient, McpTool } from "./vendor.ts";

/** Options of `mcpTools`. */
export interface McpOptions {
  /**
   * Put before every tool name, such as `github_`, so that two servers may have tools of the same name. Default:
   * nothing.
   */
  readonly prefix?: string;
  /** What each tool may touch, by the server's name for it. It overrides everything else. */
  readonly access?: Readonly<Record<string, ToolAccess>> | ((tool: McpTool) => ToolAccess | undefined);
  /**
   * Whether to believe a server that calls a tool read-only. Such a tool is then offered in plan mode, and its calls
   * are not journalled as outside effects. Default `false`: what a server says about its own tool permits nothing.
   */
  readonly trustAnnotations?: boolean;
  /** How long one call may take, in milliseconds. Default 60 000. */
  readonly timeoutMs?: number;
}

/** The tools of one server. */
export interface McpTools {
  /** The tools as they were last listed. */
  readonly tools: readonly Tool[];
  /** Lists the tools again. Sessions that follow them update their catalogs. */
  refresh(): Promise<readonly Tool[]>;
  /**
   * Offers the tools in a session, now and whenever the server says that they changed. A name that the session already
   * uses for another tool is refused; see `prefix`. `failed` is called when listing them again failed, or brought such
   * a name; the tools then stay as they were. Call the returned function to stop following, or close the session.
   */
  follow(session: Session, failed?: (error: unknown) => void): Promise<() => void>;
}

/** Lists the tools of a connected client and wraps them for a session. */
export async function mcpTools(client: McpClient, options: McpOptions = {}): Promise<McpTools> {
  // Handed a transport, or a client of another make, the first question would fail in words of nobody's.
  if (!CLIENT.fits(client)) throw badOption("client", client, CLIENT.wants);
  checkOptions(options, RULES);
  const server = new Server(client, options);
  await server.refresh();
  return server;
}

const PREFIX: OptionRule = {
  wants: "up to 32 letters, digits, _ or -, beginning with a letter or _",
  fits: (value) => typeof value === "string" && /^([A-Za-z_][\w-]{0,31})?$/.test(value),
};
const CLIENT: OptionRule = {
  ...having("listTools", "callTool"),
  wants: "a connected `Client` of the MCP SDK, with listTools and callTool",
};
const RULES = { prefix: PREFIX, access: ANYTHING, trustAnnotations: BOOLEAN, timeoutMs: whole(1) };
const TIMEOUT = 60_000;
const MOST_PAGES = 1_000;

/** By the name it is offered under: what its server said of it, and the tool. */
type KnownTools = ReadonlyMap<string, { readonly said: string; readonly tool: Tool }>;
type Follower = (tools: readonly Tool[]) => Promise<void>;

class Server implements McpTools {
  readonly #client: McpClient;
  readonly #options: McpOptions;
  readonly #followers = new Map<Follower, (error: unknown) => void>();
  /** A tool that has not changed stays the same object, and its epoch stands. */
  #known: KnownTools = new Map();
  /** All that were ever wrapped here: a session may still have an old one, and that is nobody else's. */
  readonly #made = new WeakSet<Tool>();
  #last: Promise<unknown> = Promise.resolve();
  #unlisten: () => void = () => {};

  constructor(client: McpClient, options: McpOptions) {
    this.#client = client;
    this.#options = options;
  }

  get tools(): readonly Tool[] {
    return [...this.#known.values()].map(({ tool }) => tool);
  }

  /** One after the other: of two lists the one that was asked for last is the newest. */
  refresh(): Promise<readonly Tool[]> {
    return this.#inTurn(async () => {
      await this.#list();
      await this.#offerAll();
      return this.tools;
    });
  }

  async follow(session: Session, failed: (error: unknown) => void = () => {}): Promise<() => void> {
    const { signal } = session.journal; // aborts when it is closed, or somebody else's
    const follower: Follower = async (tools) => {
      if (!signal.aborted) await this.#offer(session, tools);
    };
    const leave = () => {
      signal.removeEventListener("abort", leave);
      this.#leave(follower);
    };
    this.#listen();
    this.#followers.set(follower, failed);
    signal.addEventListener("abort", leave);
    try {
      await this.#inTurn(() => follower(this.tools));
    } catch (error) {
      leave();
      throw error;
    }
    if (signal.aborted) leave(); // it was closed before it could be heard
    return leave;
  }

  /** Tools of anybody else under the same names are neither replaced nor taken away. */
  async #offer({ transactions, catalog }: Session, tools: readonly Tool[]): Promise<void> {
    const there = (name: string) => transactions.tool(name);
    const changed = tools.filter((tool) => there(tool.name) !== tool);
    const taken = changed.map(({ name }) => there(name)).find((tool) => tool !== undefined && !this.#made.has(tool));
    if (taken !== undefined) throw new HoldfastError("TOOL_NAME_TAKEN", { tool: taken.name, by: "a tool" });
    const kept = new Set(tools.map(({ name }) => name));
    const gone = transactions.tools.filter((tool) => this.#made.has(tool) && !kept.has(tool.name));
    if (gone.length + changed.length === 0) return;
    const names = gone.map(({ name }) => name);
    await catalog.swap(names, changed, "the server's tools changed");
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {}); // told to whoever asked for it
    return turn;
  }

  async #list(): Promise<void> {
    this.#known = this.#wrapped(await this.#listed());
  }

  /** Who has left meanwhile is not in the map any more, and gets no turn. */
  #offerAll(): Promise<void> {
    return each(this.#followers, ([follower, failed]) => follower(this.tools).catch(failed));
  }

  /** The server said that they changed. Whoever follows hears when they cannot be had. */
  async #changed(): Promise<void> {
    try {
      await this.#list();
    } catch (error) {
      return each(this.#followers.values(), (failed) => failed(error));
    }
    await this.#offerAll();
  }

  async #listed(): Promise<readonly McpTool[]> {
    const tools: McpTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const list = await this.#client.listTools(cursor === undefined ? {} : { cursor });
      tools.push(...list.tools);
      if (list.nextCursor === undefined || list.nextCursor === "") return tools;
      cursor = list.nextCursor;
    }
    throw new HoldfastError("MCP_LIST_ENDLESS", { pages: MOST_PAGES, tools: tools.length });
  }

  #wrapped(listed: readonly McpTool[]): KnownTools {
    const known = new Map<string, { readonly said: string; readonly tool: Tool }>();
    for (const one of listed) {
      const name = freeName(`${this.#options.prefix ?? ""}${one.name}`, known);
      const access = this.#accessOf(one);
      const said = JSON.stringify([one, access]);
      const before = this.#known.get(name);
      const { timeoutMs = TIMEOUT } = this.#options;
      const tool = before?.said === said ? before.tool : wrapTool(this.#client, one, { name, access, timeoutMs });
      this.#made.add(tool);
      known.set(name, { said, tool });
    }
    return known;
  }

  #accessOf(tool: McpTool): ToolAccess {
    const { access, trustAnnotations = false } = this.#options;
    const own = typeof access === "function" ? access(tool) : ownValue(access, tool.name);
    if (own !== undefined) return own;
    const { readOnlyHint, destructiveHint } = (tool.annotations ?? {}) as Readonly<Record<string, unknown>>;
    return trustAnnotations && readOnlyHint === true && destructiveHint !== true ? "read" : "external";
  }

  #listen(): void {
    if (this.#followers.size > 0) return;
    this.#unlisten = onToolsChanged(this.#client, () => this.#inTurn(() => this.#changed()));
  }

  /** A client may live longer than any session: with the last that follows, what listens to it goes, too. */
  #leave(follower: Follower): void {
    if (this.#followers.delete(follower) && this.#followers.size === 0) this.#unlisten();
  }
}

/** In the letters and the length that every provider takes. Two names that become one get a number. */
function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  const letters = wanted.replace(/[^\w-]/g, "_").replace(/^[^A-Za-z_]/, "_") || "_";
  // Of two long names that begin alike none may become the other when the list changes.
  const short = letters.length <= LONGEST_NAME ? letters : ending(letters, `_${fingerprint(wanted).slice(0, 8)}`);
  for (let nth = 1; ; nth += 1) {
    const name = nth === 1 ? short : ending(short, `_${nth}`);
    if (!taken.has(name) && name !== "__proto__") return name; // that one is no key, and would be refused with the whole list
  }
}

const LONGEST_NAME = 64;

function ending(name: string, end: string): string {
  return `${name.slice(0, LONGEST_NAME - end.length)}${end}`;
}

function ownValue(access: Readonly<Record<string, ToolAccess>> | undefined, name: string): ToolAccess | undefined {
  return access !== undefined && Object.hasOwn(access, name) ? access[name] : undefined;
}
