import type { AlignedPrompt, AlignmentReport } from "../alignment/align.ts";
import { type AlignmentFault, explainFault } from "../alignment/faults.ts";
import { instantOf } from "../base/clock.ts";
import type { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { checkOptions } from "../base/options.ts";
import { inWords } from "../base/words.ts";
import { thrashOf } from "../context/faults.ts";
import type { RefusedView } from "../context/view.ts";
import type { Answer, StopReason } from "../contracts/model.ts";
import { CONTEXT_DEFAULTS } from "../history/config.ts";
import type { CallId, SessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { PromptExecuted, VisibilityOverrides } from "../state/default-slices.ts";
import { textOf } from "../wire/item.ts";
import { AskStation } from "./ask-station.ts";
import { isEmpty, type Unanswered } from "./ask.ts";
import type { RunEnd, RunEvent } from "./events.ts";
import { catchUp, type Ground, refuseRunning } from "./ground.ts";
import { RunBudget } from "./limits.ts";
import { RECALL } from "./recall-tool.ts";
import { replied, withoutReply } from "./reply.ts";
import { repairPairs } from "./request.ts";
import { callsOf, type OpenedCalls, openingsOf, runCalls } from "./run-calls.ts";
import { RUN_OPTIONS, type RunOptions } from "./run-options.ts";
import { checkSaid } from "./said-part.ts";
import { modelFailed, modelSaid, spokenIn, type UserInput, userSaid } from "./said-records.ts";
import { Stop, type StopCause } from "./stop.ts";
import { faultRecord } from "./story.ts";
import { ViewStation } from "./view-station.ts";
import { unansweredOf } from "./waiting.ts";

/** Whether calls of an answer that stopped so are to be run. What a filter or a refusal left over is nobody's wish. */
const RUNS_CALLS: Readonly<Record<StopReason, boolean>> = {
  stop: true,
  "tool-calls": true,
  length: true,
  paused: true,
  other: true,
  refusal: false,
  "content-filter": false,
};

/** The call of another session that a turn works for, and the budget of that one's turn, if it runs in one. */
export interface WorksFor {
  readonly session: SessionId;
  readonly callId: string;
  readonly budget: RunBudget | undefined;
}

/**
 * One turn: from the user's words to the model's last answer. Without input it goes on from where the journal stands,
 * e.g. after a crash. The end is told when it is durable, and not before. `worksFor`: a call of another turn.
 */
export async function* runTurn(
  ground: Ground,
  input: UserInput | undefined,
  options: RunOptions,
  worksFor?: WorksFor,
): AsyncGenerator<RunEvent, RunEnd, undefined> {
  checkOptions(options, RUN_OPTIONS, ["model"]);
  checkSaid(input);
  refuseRunning(ground);
  const turn = new Turn(ground, options, worksFor?.budget);
  let over = false;
  ground.running = true;
  ground.within = { budget: turn.budget, ask: options.ask };
  const told = tellTurn(ground, worksFor);
  try {
    const end = yield* turn.walk(input);
    yield* turn.pause();
    await turn.finish(end);
    over = true;
    told(end);
    const error = turn.budget.unpriced;
    if (error !== undefined) yield { kind: "price-failed", error };
    yield { kind: "end", end };
    return end;
  } catch (error) {
    over = true;
    throw error;
  } finally {
    told();
    try {
      if (!over) await turn.leave();
    } finally {
      ground.running = false;
      delete ground.within;
      turn.stop.release();
    }
  }
}

/** Tells that a turn begins; the answer tells, once, how it ended. Without an end it was left, or threw. */
function tellTurn({ teller, context, state: { clock } }: Ground, worksFor?: WorksFor): (end?: RunEnd) => void {
  const begun = clock.monotonic();
  let told = false;
  teller?.moment(
    "turn-begun",
    worksFor === undefined ? {} : { parent: worksFor.callId, parentSession: worksFor.session },
  );
  return (end) => {
    if (told) return;
    told = true;
    const how = end === undefined ? { status: "unfinished" } : { status: end.status, spent: { ...end.spent } };
    const { alerts, hits } = context.counts;
    const seen = { alerts, hits, thrash: thrashOf(context.counts) }; // faults are records, and told by themselves
    teller?.moment("turn-over", { ...how, context: seen, elapsedMs: clock.monotonic() - begun });
  };
}

type WithoutSums<E> = E extends unknown ? Omit<E, "spent" | "text"> : never;

class Turn {
  readonly stop: Stop;
  readonly #ground: Ground;
  readonly #options: RunOptions;
  readonly budget: RunBudget;
  /** Waiting calls that somebody was asked about in this turn. */
  readonly #asked = new Set<CallId>();
  readonly #views: ViewStation;
  readonly #asking: AskStation;
  #begun = false;
  #text = "";
  #unsentInARow = 0;

  /** From the first record on there is a turn, whose end is to be written, too. */
  readonly #write: Ground["write"] = async (...what) => {
    await this.#ground.write(...what);
    this.#begun = true;
  };

  constructor(ground: Ground, options: RunOptions, within: RunBudget | undefined) {
    this.#ground = ground;
    this.#options = options;
    const { signal: user, limits = {}, maxOutputTokens: answer, window } = options;
    const { state, signal: lost, leaving } = ground;
    const budget = new RunBudget(limits, state, within);
    const stop = new Stop({ user, lost, closing: leaving?.closing, deadline: budget.deadline, clock: state.clock });
    const write = this.#write;
    const views = new ViewStation({ ground, answer, window, signal: stop.signal, budget, write });
    this.budget = budget;
    this.stop = stop;
    this.#views = views;
    this.#asking = new AskStation({ ground, options, views, budget, stop, write });
  }

  /** The walk of ARCHITECTURE.md, station by station. */
  async *walk(input: UserInput | undefined): AsyncGenerator<RunEvent, RunEnd, undefined> {
    const { conversation } = this.#ground;
    if (this.stop.cause !== undefined) return this.#stopped();
    if (input !== undefined) {
      const { draft, contents } = await userSaid(input, (...content) => this.#ground.stage(...content));
      await this.#catchUp();
      if (this.stop.cause !== undefined) return this.#stopped();
      await withoutReply(this.#ground, conversation.waiting, (waiting) =>
        this.#write([...waiting.map((one) => unansweredOf(one, WENT_ON)), draft], [], contents),
      );
    }
    yield* this.#views.readProject();
    for (;;) {
      await this.#catchUp();
      if (this.stop.cause !== undefined) return this.#stopped();
      if (conversation.waiting.length > 0) {
        const { waiting } = conversation;
        if (!waiting.some(({ callId }) => !this.#asked.has(callId))) return this.#end({ status: "waiting", waiting });
        const end = yield* this.#run({ all: [], waiting });
        if (end !== undefined) return end;
        continue;
      }
      if (input === undefined && !this.#begun && conversation.isAnswered) return this.#answeredBefore();
      yield* this.#views.prepare();
      const limit = this.budget.met;
      if (limit !== undefined) return this.#end({ status: "limit", limit });
      const aligned = yield* this.#align();
      if ("status" in aligned) return aligned;
      const tools = aligned.catalog.activeNames;
      const { model, history: config = CONTEXT_DEFAULTS } = this.#options;
      const { history, records } = repairPairs(conversation, { profile: model.profile.id, tools, config });
      if (records.length > 0) await this.#write(records);
      if (config.warnOnInvariantViolations)
        for (const { fault, detail } of records) yield { kind: "repaired", fault, detail };
      const asked = yield* this.#asking.ask(history, aligned);
      if ("unmet" in asked) return this.#overfull(asked);
      if ("limit" in asked) return this.#end({ status: "limit", limit: asked.limit });
      if ("misaligned" in asked) {
        const refused = await this.#unsent(asked.misaligned);
        if (refused !== undefined) return refused;
        continue;
      }
      this.#unsentInARow = 0;
      if ("failure" in asked) return this.#unanswered(asked);
      const end = yield* this.#answered(asked.answer, aligned);
      if (end !== undefined) return end;
    }
  }

  /** Reads on when what somebody has replied to has ended: no model is asked, and no user goes on, while that runs. */
  async #catchUp(): Promise<void> {
    do {
      await this.stop.unlessStopped(() => replied(this.#ground));
      await catchUp(this.#ground);
    } while (this.#ground.replies.size > 0 && this.stop.cause === undefined);
  }

  /** The end of a turn is where a compaction that can wait has waited for. */
  async *pause(): AsyncGenerator<RunEvent, void, undefined> {
    if (this.#begun && this.stop.cause === undefined) yield* this.#views.pause();
  }

  /** Written down before anybody hears of it: a turn whose end is not durable has not succeeded. */
  async finish(end: RunEnd): Promise<void> {
    if (!this.#begun) return;
    const { status, spent, text: _text, ...detail } = end;
    const more = Object.keys(detail).length === 0 ? {} : { detail: detail as unknown as Json };
    await this.#write([...this.#unpriced(), { kind: "turn-ended", status, steps: spent.steps, ...more }]);
  }

  #unpriced(): readonly RecordDraft[] {
    const { unpriced } = this.budget;
    if (unpriced === undefined) return [];
    const { details, cause } = unpriced;
    return [faultRecord("price-failed", { ...details, failure: inWords(cause ?? unpriced) })];
  }

  /** Whoever followed the turn has walked away from it: it ends like one that was stopped. */
  async leave(): Promise<void> {
    this.stop.now("left");
    await this.finish(await this.#stopped());
  }

  /** Station: prompt, tools and mode tell one story, or nothing is sent. */
  async *#align(): AsyncGenerator<RunEvent, AlignedPrompt | RunEnd, undefined> {
    const { story, conversation } = this.#ground;
    const { toolChoice, ...told } = this.#options;
    const { calledTools } = conversation;
    const choice = typeof toolChoice === "object" ? { toolChoice: toolChoice.name } : {};
    const alignment = await story.align({ ...told, ...choice, calledTools });
    if (!alignment.ok) return this.#refused(alignment.report);
    const { aligned } = alignment;
    const { drafts, events } = story.notesOf(aligned);
    if (drafts.length + events.length > 0) await this.#write(drafts, events);
    if (aligned.overridden !== undefined) yield { kind: "misaligned", ...aligned.overridden };
    return aligned;
  }

  /** Whatever changed while the request was made is told by building it anew, once; then it is refused. */
  async #unsent(error: HoldfastError): Promise<RunEnd | undefined> {
    this.#unsentInARow += 1;
    if (this.#unsentInARow < 2) return undefined;
    const faults = error.cause as readonly AlignmentFault[];
    return this.#refused({ first: faults, afterRebuild: faults, says: faults.map(explainFault) });
  }

  async #refused(report: AlignmentReport): Promise<RunEnd> {
    await this.#write([faultRecord("misaligned-request-refused", report)]);
    return this.#end({ status: "refused", report });
  }

  /** What must be shown does not fit: nothing is sent, and what is unmet is told. */
  async #overfull({ fault, needed, budget, unmet, largest }: RefusedView): Promise<RunEnd> {
    await this.#write([faultRecord(fault, { needed, budget, unmet, largest })]);
    const names = (all: RefusedView["unmet"]) => all.map(({ page, level }) => `${page} (${level})`).join(", ");
    const most = largest.length === 0 ? "" : ` Most is taken by ${names(largest)}.`;
    const message = `What must be shown needs ${needed} tokens, but there are only ${budget}.${most} There is no room for ${names(unmet)}.`;
    return this.#end({ status: "failed", failure: { kind: "too-long", message, retryable: false, reached: "no" } });
  }

  /** The answer and the calls it opens are one commit: no answer without its calls, no call without its answer. */
  async *#answered(answer: Answer, aligned: AlignedPrompt): AsyncGenerator<RunEvent, RunEnd | undefined, undefined> {
    await catchUp(this.#ground);
    this.budget.step();
    this.#text = spokenIn(answer);
    const { stop } = answer;
    const unwanted = RUNS_CALLS[stop] ? undefined : `The answer ended in ${stop}: none of its calls was run.`;
    const denied = this.#options.toolChoice === "none" ? NO_CALLS : unwanted;
    const { epoch } = aligned.catalog;
    const nth = this.#ground.conversation.answers + 1;
    const calls = await callsOf(this.#ground, answer.calls, { nth, epoch, denied, stop: this.stop });
    const said = [modelSaid(this.#asking.question, answer, stop), ...openingsOf(calls), ...this.#missed(answer)];
    await this.#write(said, [this.#executed(answer, aligned)]);
    if (calls.all.length > 0) {
      const end = yield* this.#run(calls);
      return end ?? (RUNS_CALLS[stop] ? undefined : this.#end({ status: "stopped", stop }));
    }
    if (isEmpty(answer)) return this.#end({ status: "stopped", stop: "empty" });
    if (stop === "paused") return undefined;
    return this.#end(stop === "stop" ? { status: "done" } : { status: "stopped", stop });
  }

  /** Calls that only read what the model could not see any more: faults of ours, told and counted. */
  #missed({ items }: Answer): readonly RecordDraft[] {
    const { context, transactions } = this.#ground;
    return items.flatMap((item) => {
      if (item.kind !== "call" || transactions.tool(item.name)?.access !== "read" || item.name === RECALL) return [];
      const seen = context.called(item);
      return seen === "first" || seen === "alert" ? [] : [faultRecord(seen, { tool: item.name })];
    });
  }

  /** Runs the calls; what they asked to see of the prompt is open in the next request. */
  async *#run(calls: OpenedCalls): AsyncGenerator<RunEvent, RunEnd | undefined, undefined> {
    for (const { callId } of calls.waiting) this.#asked.add(callId);
    const signals: (readonly string[])[] = [];
    const { stop, budget } = this;
    const how = { stop, deadline: budget.deadline, ask: this.#options.ask, write: this.#write };
    for await (const event of runCalls(this.#ground, calls, how)) {
      if (event.kind === "call-closed" && event.outcome.expansion !== undefined)
        signals.push(this.#ground.story.sectionsAmong(event.outcome.expansion.sections));
      yield event;
    }
    // Of sections that the prompt does not have none can be opened, and none is counted.
    if (signals.every((sections) => sections.length === 0)) return undefined;
    if (signals.some(() => !this.budget.expand())) return this.#end({ status: "limit", limit: "expansions" });
    const sections = [...new Set(signals.flat())];
    await this.#write(
      [],
      sections.map((section) => VisibilityOverrides.set({ section, visibility: "full" })),
    );
    yield { kind: "expanded", sections };
    return undefined;
  }

  async #unanswered(unanswered: Unanswered): Promise<RunEnd> {
    const { failure, partial } = unanswered;
    if (this.stop.cause === undefined) {
      await this.#write([modelFailed(this.#asking.question, unanswered)]);
      return this.#end({ status: "failed", failure });
    }
    this.#text = spokenIn(partial);
    // The user has read it, so the model must know that it said it.
    if (partial.items.length > 0 && this.stop.cause !== "lost")
      await this.#write([modelSaid(this.#asking.question, partial, "aborted")]);
    return this.#stopped();
  }

  /** One mark that the model reads, then the end. */
  async #stopped(): Promise<RunEnd> {
    const { cause } = this.stop;
    if (cause === "lost") throw this.stop.signal.reason;
    if (this.#begun) await this.#write([{ kind: "turn-interrupted", text: MARKS[cause ?? "aborted"] }]);
    return this.#end(cause === "time" ? { status: "limit", limit: "timeMs" } : { status: "aborted" });
  }

  /** The last process ended between the model's last word and the end of the turn: there is nothing left to ask. */
  #answeredBefore(): RunEnd {
    const last = this.#ground.conversation.items.findLast((item) => item.kind === "assistant");
    this.#text = last === undefined ? "" : textOf(last.parts);
    return this.#end({ status: "done" });
  }

  #end(how: WithoutSums<RunEnd>): RunEnd {
    return { ...how, spent: this.budget.spent, text: this.#text };
  }

  #executed({ model = this.#options.model.name, usage }: Answer, { prompt, catalog }: AlignedPrompt) {
    const at = instantOf(this.#ground.state.clock);
    const used = usage === undefined ? {} : { usage: { ...usage } };
    const { name, hash } = prompt;
    return PromptExecuted.executed({ prompt: name, at, hash, epoch: catalog.epoch, model, ...used });
  }
}

/** What the model reads, once, where a turn was stopped. It begins no turn of the user's. */
const MARKS: Readonly<Record<Exclude<StopCause, "lost">, string>> = {
  aborted: "The user stopped the turn here. What had not ended was canceled.",
  left: "The turn was stopped here. What had not ended was canceled.",
  closed: "The session was closed here. What had not ended was canceled.",
  time: "The turn ran out of time here. What had not ended was canceled.",
};

const WENT_ON = "The user went on without an answer to this.";
const NO_CALLS = "No tool may be called here, so it did not run. Answer in words.";
