import type { AlignedPrompt } from "../alignment/align.ts";
import type { ModelRequest } from "../contracts/model.ts";
import type { RefusedView } from "../context/view.ts";
import type { PairedHistory } from "../history/paired.ts";
import { ask, type Asked } from "./ask.ts";
import type { RunEvent } from "./events.ts";
import { catchUp, type Ground } from "./ground.ts";
import type { LimitKind, RunBudget } from "./limits.ts";
import { guidanceIn, type RequestOptions } from "./request.ts";
import type { RunOptions } from "./run-options.ts";
import { modelFailed, type Question } from "./said-records.ts";
import type { Stop } from "./stop.ts";
import { sentRecord } from "./story.ts";
import type { ViewStation } from "./view-station.ts";

interface AskStationOptions {
  readonly ground: Ground;
  readonly options: RunOptions;
  readonly views: ViewStation;
  readonly budget: RunBudget;
  readonly stop: Stop;
  readonly write: Ground["write"];
}

/** The station of one turn that asks the model, with as much of the conversation as its view shows. */
export class AskStation {
  readonly #given: AskStationOptions;
  readonly #saying: RequestOptions;
  #question: Question;

  constructor(given: AskStationOptions) {
    this.#given = given;
    const { model, toolChoice, maxOutputTokens, temperature, reasoning } = given.options;
    this.#saying = defined({ toolChoice, maxOutputTokens, temperature, reasoning });
    this.#question = { model };
  }

  /** Whom the newest request asked, and whether it said how programs read the history. */
  get question(): Question {
    return this.#question;
  }

  /** A request that its provider finds too long is reclaimed and asked once more; nothing else is gained by asking again. */
  async *ask(
    history: PairedHistory,
    aligned: AlignedPrompt,
  ): AsyncGenerator<RunEvent, Asked | RefusedView | { readonly limit: LimitKind }, undefined> {
    const { ground, views, budget, stop, write } = this.#given;
    const view = yield* views.choose(history, aligned);
    if (!view.ok) return view;
    const limit = budget.met; // a summary may have used up what was left
    if (limit !== undefined && limit !== "timeMs") return { limit };
    const asked = yield* this.#ask(await views.request(view, aligned, this.#saying), aligned);
    if (!("failure" in asked) || asked.failure.kind !== "too-long" || stop.cause !== undefined) return asked;
    await write([modelFailed(this.#question, asked)]);
    await catchUp(ground); // how much was too much is read from the journal, here as after a restart
    const shorter = yield* views.choose(history, aligned, true);
    if (!shorter.ok) return shorter;
    return yield* this.#ask(await views.request(shorter, aligned, this.#saying), aligned);
  }

  #ask(request: ModelRequest, aligned: AlignedPrompt): AsyncGenerator<RunEvent, Asked, undefined> {
    const { ground, options, budget, stop, write } = this.#given;
    const { state, story, id, head } = ground;
    const { model, retry = {} } = options;
    this.#question = { model, ...(story.hasHistory ? defined({ historyGuidance: guidanceIn(request) }) : {}) };
    return ask({
      inspect: (sent) => story.inspect(aligned, sent),
      insisted: () => this.#insisted(),
      model,
      request,
      retry,
      budget,
      evaluation: `${id} ${head}`, // of the view that is about to be sent: what failed before it was spent, too
      clock: state.clock,
      random: state.random,
      signal: stop.signal,
      teller: ground.teller,
      failed: (unanswered) => write([modelFailed(this.#question, unanswered)]),
    });
  }

  async *#insisted(): AsyncGenerator<RunEvent, void, undefined> {
    const { ground, write } = this.#given;
    for (const overridden of ground.story.takeOverridden()) {
      await write([sentRecord(overridden)]);
      yield { kind: "misaligned", ...overridden };
    }
  }
}

function defined<T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
