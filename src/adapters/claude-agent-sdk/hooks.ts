import { HoldfastError } from "../../base/errors.ts";
import type { Json } from "../../base/json.ts";
import type { PendingCall, Session, Tool } from "../../index.ts";
import { fieldsOf, wordOf } from "../fields.ts";
import { needsConsent } from "../tool-server.ts";
import { digestAt, FILE_EFFECT, type NativeTools, OTHER_EFFECT, preImageOf } from "./native-tool.ts";
import { FILE_ARGUMENT, type HookInput, type HookOutput } from "./vendor.ts";

/** A call of the host's own, between its two hooks. */
interface Running {
  readonly pending: PendingCall;
  /** The file it changes, when that can be brought back. */
  readonly file: string | undefined;
  readonly end: (result: Json) => void;
  /** Resolves when what it did is written down; nothing for a tool that only reads. */
  readonly effect: Promise<Json> | undefined;
}

export interface HostSetting {
  /** How the host names our tools: `mcp__holdfast__`. */
  readonly prefix: string;
  /** The folder that native tools work in, as the host names it. */
  readonly root: string | undefined;
  readonly natives: NativeTools;
}

const ALLOWED: HookOutput = {};

/** The stations of one session under the host's loop: every call of the host's own is opened before it runs and closed once. */
export class HostCalls {
  readonly #session: Session;
  readonly #setting: HostSetting;
  readonly #running = new Map<string, Running>();
  /** Calls of ours that the host was told to ask somebody about. */
  readonly #asked = new Set<string>();

  constructor(session: Session, setting: HostSetting) {
    this.#session = session;
    this.#setting = setting;
  }

  /** Before a tool runs: what may not run is denied; what may is written down first. */
  async before(input: HookInput): Promise<HookOutput> {
    const { tool_name: name = "", tool_use_id: id = "", tool_input: args, permission_mode: mode } = input;
    const ours = name.startsWith(this.#setting.prefix) ? name.slice(this.#setting.prefix.length) : undefined;
    const { transactions } = this.#session;
    const access = ours === undefined ? this.#setting.natives.accessOf(name) : transactions.tool(ours)?.access;
    if (mode === "plan" && access !== "read")
      return denied(`The host is in plan mode and ${name} could change something, so it did not run.`);
    if (ours !== undefined) return this.#ours(id, transactions.tool(ours), args); // it opens its own call when it is asked for
    let pending: PendingCall;
    try {
      pending = await this.#session.begin({ name, input: args ?? {}, alias: id });
    } catch (error) {
      if (!HoldfastError.is(error, "CALL_REFUSED")) throw error;
      return denied(wordOf(error.details["message"]) ?? error.message);
    }
    return this.#open(id, name, pending, args);
  }

  /** Consent is the host's to ask for: a call that comes all the same was let through by somebody. */
  consented(id: string | undefined): boolean {
    return id !== undefined && this.#asked.delete(id);
  }

  /** It succeeded, and the host says so. */
  async after({ tool_use_id: id = "", tool_response: response }: HookInput): Promise<HookOutput> {
    const running = await this.#ended(id);
    if (running !== undefined) await running.pending.commit(plain(response));
    return ALLOWED;
  }

  /** It failed, or was stopped, and the host says so: what it did is taken back as far as it can be. */
  async failed({ tool_use_id: id = "", error = "The host's tool failed." }: HookInput): Promise<HookOutput> {
    const running = await this.#ended(id);
    if (running !== undefined) await running.pending.commit({ ok: false, code: "host-failed", message: error });
    return ALLOWED;
  }

  /** Nobody will say any more how these ended: they never ran, or the host is gone. */
  async leave(why: string): Promise<void> {
    for (const id of this.open) {
      const running = await this.#ended(id);
      await running?.pending.abort(why);
    }
  }

  get open(): readonly string[] {
    return [...this.#running.keys()];
  }

  async #ours(id: string, tool: Tool | undefined, args: unknown): Promise<HookOutput> {
    if (tool === undefined || !(await needsConsent(this.#session, tool, args ?? {}))) return ALLOWED;
    this.#asked.add(id);
    return decided("ask", `${tool.name} runs only with somebody's consent.`);
  }

  async #open(id: string, name: string, pending: PendingCall, args: unknown): Promise<HookOutput> {
    if (this.#setting.natives.accessOf(name) === "read") {
      this.#running.set(id, { pending, file: undefined, end: () => {}, effect: undefined });
      return ALLOWED;
    }
    const path = this.#pathIn(name, args);
    const image = path === undefined ? undefined : await preImageOf(this.#session, path);
    const began = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<Json>();
    this.#setting.natives.ends.set(id, { began: began.resolve, ended: ended.promise });
    const what =
      image === undefined ? { name: OTHER_EFFECT, args: { tool: name } } : { name: FILE_EFFECT, args: image };
    const effect = pending.call.effect(what.name, { ...what.args }, { key: id });
    effect.catch(began.reject);
    await began.promise; // written down: only now may it run
    this.#running.set(id, { pending, file: image?.path, end: ended.resolve, effect });
    if (image !== undefined || FILE_ARGUMENT[name] === undefined) return ALLOWED;
    return {
      systemMessage: `Holdfast: ${wordOf(fieldsOf(args)[FILE_ARGUMENT[name]]) ?? name} cannot be brought back.`,
    };
  }

  /** Closes the effect with what the tool left behind. Each call ends once, whichever hook comes first. */
  async #ended(id: string): Promise<Running | undefined> {
    const running = this.#running.get(id);
    if (running === undefined) return undefined;
    this.#running.delete(id);
    running.end(running.file === undefined ? {} : { after: await digestAt(this.#session, running.file) });
    await running.effect?.catch(() => {}); // told by the call, which knows what is known of it
    this.#setting.natives.ends.delete(id);
    return running;
  }

  /** The file a native tool is about to change, as the session knows it; nothing outside the workspace. */
  #pathIn(name: string, args: unknown): string | undefined {
    const { root } = this.#setting;
    const argument = FILE_ARGUMENT[name];
    const path = argument === undefined ? undefined : wordOf(fieldsOf(args)[argument]);
    if (path === undefined || root === undefined) return undefined;
    if (!path.startsWith("/")) return path;
    return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
  }
}

function denied(why: string): HookOutput {
  return decided("deny", why);
}

function decided(permissionDecision: "deny" | "ask", permissionDecisionReason: string): HookOutput {
  return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason } };
}

/** A response that happens to say `success: false` is still what the host calls a success. */
function plain(response: unknown): unknown {
  if (typeof response !== "object" || response === null) return response ?? null;
  return { response };
}
