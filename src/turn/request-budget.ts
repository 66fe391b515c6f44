import type { TokenCounter } from "../contracts/token-counter.ts";
import { budgetWithin, type Calibration } from "../context/tokens/calibrate.ts";
import { countWithoutRuns } from "../context/tokens/runs.ts";
import type { JournalEntry } from "../journal/prove.ts";
import type { ViewAsk } from "./context-options.ts";
import { levelsFault } from "./told-shapes.ts";
import { type RequestSize, sizeOf } from "./view-log.ts";

/** What the model reads and writes in one request, when nobody says how much that is. */
const WINDOW = 128_000;
/** Of the window, what an answer is given when nobody says how long it may be. */
const ANSWER_SHARE = 0.25;
const MOST_ANSWER = 16_000;
const NO_CEILING = { window: 0, tokens: Number.POSITIVE_INFINITY };

/** How many tokens of a request its conversation may take. */
export class RequestBudget {
  readonly #counter: TokenCounter;
  readonly #window: number;
  /** What stands around a conversation changes seldom; it is counted once. */
  #around: { readonly texts: readonly string[]; readonly tokens: number } = { texts: [], tokens: 0 };
  /** So many tokens were too many for the provider, in this window. A larger one is another model's, and not held to it. */
  #ceiling = NO_CEILING;
  /** The window of the newest request that was asked about. */
  #latest: number;
  /** The newest request that was written down. */
  #asked: RequestSize | undefined;

  constructor(counter: TokenCounter, window: number = WINDOW) {
    this.#counter = counter;
    this.#window = window;
    this.#latest = window;
  }

  /** Before any request was made. */
  get beforehand(): number {
    return this.#window * (1 - ANSWER_SHARE);
  }

  /** The window of the last request that was asked about. */
  get window(): number {
    return this.#latest;
  }

  /** Tokens of what stood around the conversation of the last request that was asked about. */
  get around(): number {
    return this.#around.tokens;
  }

  /** What is left of the window that was declared. */
  declared(ask: Pick<ViewAsk, "around" | "answer" | "window">, calibration: Calibration): number {
    const { around, answer, window = this.#window } = ask;
    this.#latest = window;
    const known = this.#around.texts;
    if (around.length !== known.length || around.some((text, at) => text !== known[at])) {
      const tokens = around.reduce((sum, text) => sum + countWithoutRuns(this.#counter, text), 0);
      this.#around = { texts: around, tokens };
    }
    const limit = window - (answer ?? Math.min(MOST_ANSWER, window * ANSWER_SHARE));
    return budgetWithin(limit, this.#counter, calibration) - this.#around.tokens;
  }

  /** And below what the provider has found too long. */
  held(declared: number, { window = this.#window }: Pick<ViewAsk, "window">): number {
    return window > this.#ceiling.window ? declared : Math.min(declared, this.#ceiling.tokens);
  }

  /** Reads what the provider found too long, and that it was tried again all the same: no later process has to ask once more. */
  hear(entry: JournalEntry): void {
    if (entry.kind === "view-chosen") {
      this.#asked = levelsFault(entry.levels) === undefined ? sizeOf(entry) : undefined;
      const { window = Number.POSITIVE_INFINITY, budget = 0 } = this.#asked ?? {};
      if (window <= this.#ceiling.window && budget > this.#ceiling.tokens) this.forgetTooLong();
    }
    const { window, tokens = 0 } = this.#asked ?? {}; // earlier versions did not write the window down
    if (entry.kind === "model-failed" && Object(entry.failure).kind === "too-long" && window !== undefined)
      this.tooLong(tokens, { window });
  }

  /** The provider has found a conversation of so many tokens too long. */
  tooLong(tokens: number, { window = this.#window }: Pick<ViewAsk, "window">): void {
    const before = window > this.#ceiling.window ? Number.POSITIVE_INFINITY : this.#ceiling.tokens;
    this.#ceiling = { window, tokens: Math.min(before, tokens) };
  }

  /** What a provider once found too long may have been something else. */
  forgetTooLong(): void {
    this.#ceiling = NO_CEILING;
  }
}
