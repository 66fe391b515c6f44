import type { AlignedPrompt } from "../alignment/align.ts";
import { HoldfastError } from "../base/errors.ts";
import type { ModelRequest } from "../contracts/model.ts";
import type { RefusedView, View } from "../context/view.ts";
import type { PairedHistory } from "../history/paired.ts";
import { filesOf } from "../files/access.ts";
import type { RecordDraft } from "../records/kinds.ts";
import type { Item } from "../wire/item.ts";
import { compactWithin, refuse } from "./boundaries.ts";
import type { AsidePurpose } from "./aside.ts";
import type { AsideUse, RunEvent } from "./events.ts";
import { catchUp, type Ground } from "./ground.ts";
import type { RunBudget, Spent } from "./limits.ts";
import { prepareOutputs } from "./prepare-outputs.ts";
import { aroundOf, type RequestOptions, writeRequest } from "./request.ts";
import { MediaStation } from "./show-media.ts";
import { faultRecord } from "./story.ts";
import { outOfReach } from "./writeback.ts";

export interface ViewStationOptions {
  readonly ground: Ground;
  /** Room for the answer. */
  readonly answer: number | undefined;
  readonly window: number | undefined;
  readonly signal: AbortSignal;
  readonly budget: RunBudget;
  readonly write: Ground["write"];
}

/** The second: what is dirty cannot be committed now. A request that fits all the same gives nothing up. */
const COSTS_THE_SUMMARY: ReadonlySet<string> = new Set(["SUMMARY_FAILED", "BOUNDARY_REFUSED"]);

/** The station of one turn that chooses what its requests show, and gives context up where it must. */
export class ViewStation {
  readonly #ground: Ground;
  readonly #options: ViewStationOptions;
  readonly #media: MediaStation;
  /** Content that could not be shown, and that this turn has told of. */
  readonly #unread = new Set<string>();
  /** Nothing is gained by compacting again before the next turn. */
  #isCompacted = false;

  constructor(options: ViewStationOptions) {
    this.#ground = options.ground;
    this.#options = options;
    this.#media = new MediaStation(options.ground.content);
  }

  /** What the project's own files say to this turn. What cannot be read is no rule, and told. */
  async *readProject(): AsyncGenerator<RunEvent, void, undefined> {
    const faults = await this.#ground.context.readProject(() => filesOf(this.#ground.state)); // a state of its own need not have any
    if (faults.length === 0) return;
    await this.#options.write(faults.map((fault) => faultRecord("project-rule-unread", fault)));
    yield { kind: "rules-unread", faults };
  }

  /** What new outputs come to, where a compressor asks a model about them. */
  async *prepare(): AsyncGenerator<RunEvent, void, undefined> {
    const before = this.#options.budget.spent;
    const { prepared, failed } = await prepareOutputs(this.#ground, this.#options.signal);
    if (prepared + failed > 0) yield this.#aside("compress", before, { prepared, failed });
  }

  /** What of the conversation is shown. Written down before it is sent, so that the next process shows the same. */
  async *choose(
    history: PairedHistory,
    aligned: AlignedPrompt,
    tooLong = false,
  ): AsyncGenerator<RunEvent, View | RefusedView, undefined> {
    const { context, conversation } = this.#ground;
    const { answer, window } = this.#options;
    const ask = {
      history,
      said: conversation.items,
      idOf: (item: Item) => conversation.idOf(item),
      offers: {
        tools: new Set(aligned.catalog.activeNames),
        other: (tools: ReadonlySet<string>) => conversation.offering(tools),
      },
      around: aroundOf(aligned),
      tooLong,
      ...(answer === undefined ? {} : { answer }),
      ...(window === undefined ? {} : { window }),
    };
    const unreachable = await this.#committed();
    let view = context.choose(ask);
    // Only once: what could leave has left then, and pages are lowered for the rest.
    if (view.ok && !tooLong && context.pressureOf(view) === "hard" && (yield* this.#compact(unreachable, view.budget)))
      view = context.choose(ask);
    this.#isCompacted ||= view.ok && context.pressureOf(view) === "hard"; // it could not, or not enough
    if (!view.ok) return view;
    const boundary = tooLong ? "overflow" : "prune";
    const destroys = view.reclaim !== undefined && view.reclaim.why !== "changed";
    if (destroys && unreachable !== undefined) return refuse(this.#ground, boundary, unreachable);
    const uncompressed = context.takeUncompressed().map((one) => faultRecord("compressor-failed", one));
    const { drafts, events } = context.notesOf(view);
    const crossed: readonly RecordDraft[] = destroys ? [{ kind: "boundary-crossed", boundary }] : [];
    await this.#options.write([...crossed, ...uncompressed, ...drafts], events);
    if (view.reclaim !== undefined) {
      this.#ground.teller?.moment("context-reclaimed", { ...view.reclaim });
      yield { kind: "reclaimed", reclaim: view.reclaim };
    }
    return view;
  }

  /** The request, with the pictures and files that its view shows. What cannot be read is written down. */
  async request(view: View, aligned: AlignedPrompt, saying: RequestOptions): Promise<ModelRequest> {
    const { isPaused } = this.#ground.conversation;
    const request = writeRequest(view, aligned, { ...saying, isPaused });
    const { items, unread } = await this.#media.show(request.items);
    const news = unread.filter(({ name }) => !this.#unread.has(name));
    for (const { name } of news) this.#unread.add(name);
    if (news.length > 0) await this.#options.write(news.map((one) => faultRecord("result-media-unread", one)));
    return { ...request, items };
  }

  /** The end of a turn is where a compaction that can wait has waited for. */
  async *pause(): AsyncGenerator<RunEvent, void, undefined> {
    const { context } = this.#ground;
    if (context.pressure !== "none") yield* this.#compact(await this.#committed(), context.budget);
  }

  /** What is dirty is committed before a request, because choosing its view may give context up. Answers why it could not be. */
  async #committed(): Promise<HoldfastError | undefined> {
    try {
      await this.#ground.writeback?.commit();
      return undefined;
    } catch (error) {
      return outOfReach(error);
    }
  }

  /** One that fails, or is refused, costs the summary: pages are lowered instead, as they are without one, if they must be. */
  async *#compact(
    unreachable: HoldfastError | undefined,
    budget: number,
  ): AsyncGenerator<RunEvent, boolean, undefined> {
    if (this.#isCompacted) return false;
    const before = this.#options.budget.spent;
    try {
      // Before anybody is asked: a summary that cannot be used costs as much.
      if (unreachable !== undefined) return await refuse(this.#ground, "compaction", unreachable);
      const { crossed, left } = await compactWithin(this.#ground, budget, { signal: this.#options.signal });
      if (!crossed) return false;
      yield* this.#summarised(before);
      await catchUp(this.#ground);
      yield { kind: "compacted", left };
      return true;
    } catch (error) {
      if (!HoldfastError.is(error) || !COSTS_THE_SUMMARY.has(error.code)) throw error;
      this.#isCompacted = true;
      yield* this.#summarised(before);
      yield { kind: "compaction-failed", error };
      return false;
    }
  }

  /** A summary that is made without a model is not told of: it costs nothing. */
  *#summarised(before: Spent): Generator<RunEvent, void, undefined> {
    const event = this.#aside("summarise", before);
    if (event.used.input + event.used.output > 0) yield event;
  }

  #aside(purpose: AsidePurpose, before: Spent, sums: Pick<AsideUse, "prepared" | "failed"> = {}) {
    const { spent } = this.#options.budget;
    const [input, output] = [spent.input - before.input, spent.output - before.output];
    return { kind: "aside", purpose, used: { input, output, cost: spent.cost - before.cost, ...sums }, spent } as const;
  }
}
