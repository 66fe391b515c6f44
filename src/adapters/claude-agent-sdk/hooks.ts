import { relative, resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { checkJson, type Json, KEPT_LIMITS } from "../../base/json.ts";
import { type CallOutcome, EffectDidNotHappen, type PendingCall, type Session, type Tool } from "../../index.ts";
import { inWords } from "../../base/words.ts";
import { wordOf } from "../fields.ts";
import { fieldsOf } from "../../base/fields.ts";
import { needsConsent } from "../tool-server.ts";
import { digestAt, FILE_EFFECT, type NativeTools, OTHER_EFFECT, preImageOf } from "./native-tool.ts";
import { FILE_ARGUMENT, type HookInput, type HookOutput, hostName } from "./vendor.ts";

/** A call of the host's own, between its two hooks. */
interface Running {
  /** The host's id for it. Some models begin anew with every answer, so it names a call only while that runs. */
  readonly id: string;
  /** The sub-agent that makes it; nothing for the host itself. */
  readonly agent: string | undefined;
  readonly pending: PendingCall;
  /** The file it changes, when that can be brought back. */
  readonly file: string | undefined;
  readonly end: PromiseWithResolvers<Json>;
  /** Settles when what it did is written down; nothing for a tool that only reads. */
  readonly effect: Promise<Json> | undefined;
}

export interface HostSetting {
  /** How the host names our tools: `mcp__holdfast__`. */
  readonly prefix: string;
  /** The folder that native tools work in, as the host names it. */
  readonly root: string | undefined;
  readonly natives: NativeTools;
}

/** What a hook says of which call it is about. */
type CallOfHost = Pick<HookInput, "tool_use_id" | "agent_id">;

const ALLOWED: HookOutput = {};

/** The stations of one session under the host's loop: every call of the host's own is opened before it runs and closed once. */
export class HostCalls {
  readonly #session: Session;
  readonly #setting: HostSetting;
  readonly #running = new Set<Running>();
  /** Calls that are being opened. */
  readonly #opening = new Set<Promise<unknown>>();
  /** Calls of ours that the host was told to ask somebody about. */
  readonly #asked = new Set<string>();

  constructor(session: Session, setting: HostSetting) {
    this.#session = session;
    this.#setting = setting;
  }

  /**
   * Before a tool runs: what may not run is denied; what may is written down first. `asked` aborts when the host does not
   * wait for the answer any more, because its time is up or its user has interrupted it.
   */
  async before(input: HookInput, asked?: AbortSignal): Promise<HookOutput> {
    const opening = this.#before(input, asked);
    this.#opening.add(opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(opening);
    }
  }

  async #before(input: HookInput, asked: AbortSignal | undefined): Promise<HookOutput> {
    const { tool_name: name = "", tool_use_id: id = "", tool_input: args, permission_mode: mode } = input;
    const ours = name.startsWith(this.#setting.prefix) ? name.slice(this.#setting.prefix.length) : undefined;
    const tool = ours === undefined ? undefined : this.#toolCalled(ours);
    const access = ours === undefined ? this.#setting.natives.accessOf(name) : tool?.access;
    if (mode === "plan" && access !== "read")
      return denied(`The host is in plan mode and ${name} could change something, so it did not run.`);
    if (ours !== undefined) return this.#ours(id, tool, args); // it opens its own call when it is asked for
    let pending: PendingCall;
    try {
      pending = await this.#session.begin({ name, input: args ?? {}, alias: id });
    } catch (error) {
      if (!HoldfastError.is(error, "CALL_REFUSED")) throw error;
      return denied(wordOf(error.details["message"]) ?? error.message);
    }
    let running: Running;
    try {
      running = await this.#open(input, name, pending);
    } catch (error) {
      await pending.abort("It could not be written down, so it did not run.");
      throw error;
    }
    this.#running.add(running);
    if (asked?.aborted !== true) return this.#toldOf(running, name, args);
    await this.#neverRan(running, GIVEN_UP); // nobody would say how it ended
    return denied(GIVEN_UP);
  }

  /** Consent is the host's to ask for: a call that comes all the same was let through by somebody. */
  consented(id: string | undefined): boolean {
    return id !== undefined && this.#asked.delete(id);
  }

  /** It succeeded, and the host says so. */
  async after(input: HookInput): Promise<HookOutput> {
    const running = this.#find(input);
    if (running === undefined) return ALLOWED;
    await this.#ended(running);
    const outcome = await running.pending.commit(plain(input.tool_response));
    return outcome === "not pending" || outcome.ok ? ALLOWED : takenBack(outcome);
  }

  /** It failed, or was stopped, and the host says so: what it did is taken back as far as it can be. */
  async failed(input: HookInput): Promise<HookOutput> {
    const running = this.#find(input);
    if (running === undefined) return ALLOWED;
    await this.#ended(running);
    await running.pending.commit({ ok: false, code: "host-failed", message: input.error ?? "The host's tool failed." });
    return ALLOWED;
  }

  /** Somebody did not permit it after it was opened: it never ran, and nothing is claimed of it. */
  async notPermitted(input: CallOfHost, why: unknown): Promise<HookOutput> {
    this.#asked.delete(input.tool_use_id ?? "");
    const running = this.#find(input);
    if (running === undefined) return ALLOWED;
    await this.#neverRan(running, wordOf(why) ?? "It was not permitted.");
    return ALLOWED;
  }

  async #neverRan(running: Running, message: string): Promise<void> {
    await this.#ended(running, new EffectDidNotHappen(message));
    await running.pending.commit({ ok: false, code: "denied", message });
  }

  /** All calls of an answer are over. The host tells how each ended that ran, so one that is still open never did. */
  async batched({ tool_calls: calls = [], agent_id }: HookInput): Promise<HookOutput> {
    for (const { tool_use_id = "", tool_response } of calls)
      await this.notPermitted({ tool_use_id, ...(agent_id === undefined ? {} : { agent_id }) }, tool_response);
    return ALLOWED;
  }

  /** The host, or one of its sub-agents, is done: others may still be at work. */
  async stopped({ hook_event_name: event, agent_id: agent }: HookInput): Promise<HookOutput> {
    // Older hosts do not say which of them: taken for the host, it would end the very call that the sub-agent works for.
    if (event === "SubagentStop" && agent === undefined) return ALLOWED;
    await this.#leave(
      [...this.#running].filter((running) => running.agent === agent),
      "The host ended its turn without saying how it ended.",
    );
    return ALLOWED;
  }

  /** Nobody will say any more how these ended: they never ran, or the host is gone. */
  async leave(why: string): Promise<void> {
    await Promise.allSettled(this.#opening); // the host did not wait for them, and nobody will end them
    this.#asked.clear();
    await this.#leave([...this.#running], why);
  }

  async #leave(left: readonly Running[], why: string): Promise<void> {
    for (const running of left) {
      await this.#ended(running, running.file === undefined ? new Error(why) : undefined);
      await running.pending.abort(why);
    }
  }

  get open(): readonly string[] {
    return [...this.#running].map(({ id }) => id);
  }

  /** A tool of the session's by the host's name for it. */
  #toolCalled(name: string): Tool | undefined {
    const { transactions } = this.#session;
    return transactions.tool(name) ?? transactions.tools.find((tool) => hostName(tool.name) === name);
  }

  async #ours(id: string, tool: Tool | undefined, args: unknown): Promise<HookOutput> {
    if (tool === undefined || !(await needsConsent(this.#session, tool, args ?? {}))) return ALLOWED;
    this.#asked.add(id);
    return decided("ask", `${tool.name} runs only with somebody's consent.`);
  }

  async #open(input: HookInput, name: string, pending: PendingCall): Promise<Running> {
    const { tool_use_id: id = "", agent_id: agent } = input;
    const end = Promise.withResolvers<Json>();
    end.promise.catch(() => {}); // heard by the effect, where there is one
    if (this.#setting.natives.accessOf(name) === "read")
      return { id, agent, pending, file: undefined, end, effect: undefined };
    const path = this.#pathIn(name, input);
    const image = path === undefined ? undefined : await preImageOf(this.#session, path);
    const began = Promise.withResolvers<void>();
    this.#setting.natives.ends.set(pending.id, { began: began.resolve, ended: end.promise });
    const what =
      image === undefined ? { name: OTHER_EFFECT, args: { tool: name } } : { name: FILE_EFFECT, args: image };
    const effect = pending.call.effect(what.name, { ...what.args }, { key: pending.id });
    effect.catch(began.reject);
    try {
      await began.promise; // written down: only now may it run
    } catch (error) {
      this.#setting.natives.ends.delete(pending.id);
      throw error;
    }
    return { id, agent, pending, file: image?.path, end, effect };
  }

  /** That a file cannot be brought back is said before it is changed. */
  #toldOf({ file }: Running, name: string, args: unknown): HookOutput {
    const argument = FILE_ARGUMENT[name];
    if (file !== undefined || argument === undefined) return ALLOWED;
    return { systemMessage: `Holdfast: ${wordOf(fieldsOf(args)[argument]) ?? name} cannot be brought back.` };
  }

  /** The oldest that is open under the host's id: two that share one are ended in the order in which they began. */
  #find({ tool_use_id: id = "", agent_id: agent }: CallOfHost): Running | undefined {
    return [...this.#running].find((running) => running.id === id && running.agent === agent);
  }

  /** Closes the effect with what the tool left behind, or with why that is not known. Each call ends once. */
  async #ended(running: Running, untold?: Error): Promise<void> {
    const { pending, file, end, effect } = running;
    this.#running.delete(running);
    try {
      if (untold !== undefined) throw untold;
      end.resolve(file === undefined ? {} : { after: await digestAt(this.#session, file) });
    } catch (error) {
      end.reject(error);
    }
    await effect?.catch(() => {}); // told by the call, which knows what is known of it
    this.#setting.natives.ends.delete(pending.id);
  }

  /** The file a native tool is about to change, as seen from the workspace; what leads out of it is refused there. */
  #pathIn(name: string, { tool_input: args, cwd }: HookInput): string | undefined {
    const { root } = this.#setting;
    const argument = FILE_ARGUMENT[name];
    const path = argument === undefined ? undefined : wordOf(fieldsOf(args)[argument]);
    return path === undefined || root === undefined ? undefined : relative(root, resolve(cwd ?? root, path));
  }
}

function denied(why: string): HookOutput {
  return decided("deny", why);
}

function decided(permissionDecision: "deny" | "ask", permissionDecisionReason: string): HookOutput {
  return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason } };
}

const GIVEN_UP = "The host did not wait until it was written down, so it did not run.";

/** The host calls it a success, and the session does not: the mode or a policy has changed while it ran. */
function takenBack({ tool, output }: CallOutcome): HookOutput {
  const told = `Holdfast: ${tool} ran, and what it did does not count. ${inWords(output)}`;
  return { systemMessage: told, hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: told } };
}

/** A response that happens to say `success: false`, or that cannot be kept, is still what the host calls a success. */
function plain(response: unknown): unknown {
  const result = typeof response === "object" && response !== null ? { response } : (response ?? null);
  const kept = checkJson(result, KEPT_LIMITS);
  return kept.ok ? result : `What it answered cannot be kept: ${kept.error.path} ${kept.error.detail}`;
}
