import { HoldfastError } from "../base/errors.ts";
import { canceled, endedBefore } from "./attempt.ts";
import type { Call } from "./call.ts";
import { type Discarded, type Ending, endingOf, endingOfThrown } from "./ending.ts";
import { type Admitted, remember } from "./guard.ts";
import { objectionTo } from "./validators.ts";
import type { CallWorld } from "./call-world.ts";
import type { OpenCall } from "./open-call.ts";
import type { CallOutcome } from "./outcome.ts";
import type { PolicyView } from "./policy.ts";
import { settle } from "./settle.ts";

/**
 * A call whose tool a host runs itself. It ends once, by whichever comes first: `commit`, `abort`, its signal, or
 * leaving the scope of `await using`; anything later gets "not pending". Until the tool's validators have accepted the
 * result, a commit can still be overtaken by an abort.
 */
export class PendingCall implements AsyncDisposable {
  readonly id: string;
  /** For reading and changing the state, until the call ends. */
  readonly call: Call;
  readonly #world: CallWorld;
  readonly #open: OpenCall;
  readonly #told: (outcome: CallOutcome) => CallOutcome;
  readonly #failed: () => void;
  /** Why it cannot end is told to whoever commits or aborts it. */
  readonly #onAbort = () => void this.#end(canceled(this.#open.signal)).catch(() => {});
  #ended = false;
  #outcome: Promise<CallOutcome> | undefined;
  #isCommitting = false;
  #view: PolicyView | undefined;
  readonly #judged = Promise.withResolvers<void>();

  constructor(world: CallWorld, open: OpenCall, told: (outcome: CallOutcome) => CallOutcome, failed: () => void) {
    this.#world = world;
    this.#open = open;
    this.#told = told;
    this.#failed = failed;
    this.id = open.call.id;
    this.call = open.begin();
    open.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /**
   * Checks arguments and policies, as when we run the tool. A call that does not pass is closed; throws CALL_REFUSED.
   */
  async admit(denial: Discarded | undefined): Promise<void> {
    try {
      await this.#admit(denial);
    } finally {
      this.#judged.resolve();
    }
  }

  async #admit(denial: Discarded | undefined): Promise<void> {
    const { tool, call } = this.#open;
    const known = this.#world.tool(call.name) !== undefined;
    const theirs = { ...tool, parse: async (input: unknown) => ({ ok: true as const, input }) };
    const limits = this.#open.limits();
    // Whoever breaks while it is asked has admitted nothing: left open, the call could still be committed by its id.
    const passed = await this.#open
      .admit(known ? tool : theirs)
      .catch((error: unknown): Admitted => ({ ok: false, ending: endingOfThrown(error) }));
    if (passed.ok) this.#view = passed.view;
    // Aborted while it was being opened, nobody listened yet.
    const ending = denial ?? (passed.ok ? endedBefore(limits) : passed.ending);
    if (ending !== undefined) await this.#end(ending);
    // Also when it was aborted meanwhile: whoever began it would run the tool for nothing.
    if (this.#outcome === undefined) return;
    const { reason, output } = await this.#outcome;
    throw new HoldfastError("CALL_REFUSED", { call: this.id, tool: call.name, reason, message: output });
  }

  /** Ends the call with a result. It may still be refused, by a validator for instance: see the outcome. */
  async commit(result: unknown): Promise<CallOutcome | "not pending"> {
    await this.#judged.promise; // a host that ends calls by their ids may be ahead of what they are asked
    const view = this.#view;
    if (this.#ended || this.#isCommitting || view === undefined) return "not pending";
    this.#isCommitting = true; // before anything is awaited: two at once would have the policies remember it twice
    let ending: Ending;
    try {
      ending = endedBefore(this.#open.limits()) ?? endingOf(result);
      if (ending.kind === "succeeded") ending = await this.#accepted(ending, view);
      if (this.#ended) return "not pending";
      ending = this.#open.wholly(ending);
      if (ending.kind === "succeeded") remember(view, ending.value, this.#open.branch, this.#world.policies);
    } catch (error) {
      ending = endingOfThrown(error);
    }
    return this.#end(ending);
  }

  /** Ends the call as canceled: everything it changed is undone. The model reads `reason`. */
  abort(reason = "The call was aborted."): Promise<CallOutcome | "not pending"> {
    return this.#end({ kind: "canceled", message: reason });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort("It was not committed.");
  }

  /** The tool's validators, as for a call of ours; but only the host could try again. */
  async #accepted(ending: Extract<Ending, { readonly kind: "succeeded" }>, { input }: PolicyView): Promise<Ending> {
    const { tool, attempts, refused } = this.#open;
    const objection = await objectionTo(ending.value, tool.validators, { input, attempt: attempts });
    if (objection !== undefined)
      refused.push({ attempt: attempts, reason: objection.kind, message: objection.message });
    return objection ?? ending;
  }

  async #end(ending: Ending): Promise<CallOutcome | "not pending"> {
    if (this.#ended) return "not pending";
    this.#ended = true;
    this.#outcome = this.#settled(ending);
    return this.#outcome;
  }

  async #settled(ending: Ending): Promise<CallOutcome> {
    this.#open.signal.removeEventListener("abort", this.#onAbort);
    try {
      return this.#told(await settle(this.#world, this.#open, ending, false));
    } finally {
      this.#failed();
    }
  }
}
