import type { Compressor } from "../contracts/compressor.ts";
import type { Summariser } from "../contracts/summariser.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import type { Marks } from "../context/derive.ts";
import type { Page } from "../context/page.ts";
import type { Preference, Rule } from "../context/producers.ts";
import type { UpgradeOrder } from "../context/select.ts";
import type { DerivePolicy } from "../context/view.ts";
import type { ProjectOptions } from "./project-rules.ts";
import type { Item } from "../wire/item.ts";
import type { PageSources } from "./session-pages.ts";
import type { Shelves } from "./shelves.ts";

/** When and how a conversation is compacted automatically. */
export interface CompactionOptions {
  /**
   * The trigger, as a share of the budget: above 0, at most 1. From nine tenths of it, the conversation is compacted
   * when the turn ends; from the trigger itself, before the next request.
   */
  readonly at: number;
  /** Writes the summary. Default: one that asks no model. */
  readonly summariser?: Summariser;
}

/** How much of the conversation the model sees, and what always comes before it. */
export interface ContextOptions {
  /** The model's context window: tokens read and written in one request. Default 128 000. */
  readonly window?: number;
  /** Counts tokens. Default: an estimate, calibrated by what the provider reports. */
  readonly counter?: TokenCounter;
  /** Shortens the text of pages. */
  readonly compressor?: Compressor;
  /** How long a request waits for a compressor that asks a model, in milliseconds. Default 20 000. */
  readonly patienceMs?: number;
  /** How each view is derived from the one before. Default `incremental`. */
  readonly policy?: DerivePolicy;
  /** When pages are reclaimed, as shares of the budget. */
  readonly marks?: Partial<Marks>;
  /** Which pages get the rest of the budget first. Default `utility`. */
  readonly order?: UpgradeOrder;
  /** For the policy `oracle`: how often a page will be needed in the next three turns. */
  readonly foresight?: (page: Page) => number;
  /** Turns automatic compaction on. Without it, pages are lowered under pressure and nothing is summarised. */
  readonly compaction?: CompactionOptions;
  /** Rules for every session, each with its own id. They win over rules with the same id in the project's files. */
  readonly rules?: readonly Rule[];
  /** Takes rules from files, too: `true` for `AGENTS.md` and the goals in `.tasks.jsonl`, or name the files. */
  readonly project?: true | ProjectOptions;
  /** What the user prefers, in every session, each with its own id. */
  readonly preferences?: readonly Preference[];
  /** `false`: the tool `recall` is not offered to the model. Default true. */
  readonly recall?: boolean;
}

/** What `SessionContext.choose` needs to choose a view. */
export interface ViewAsk extends Pick<PageSources, "history" | "said" | "idOf"> {
  /** The tools that the request offers, and the history as a request with other tools shows it. */
  readonly offers?: {
    readonly tools: ReadonlySet<string>;
    readonly other: (tools: ReadonlySet<string>) => readonly Item[];
  };
  /** What surrounds the conversation in the request: instructions, tools, stamp. */
  readonly around: readonly string[];
  /** Room for the answer. */
  readonly answer?: number;
  readonly window?: number;
  /** The provider refused the last request as too long. */
  readonly tooLong?: boolean;
}

/** What a session's context begins with. */
export interface ContextOrigin {
  /** The durable pages that sessions share. */
  readonly shelves?: Pick<Shelves, "pages">;
  /** The newest record that earlier processes have written. */
  readonly openedAt?: number;
  /** Hides secrets, as the journal does. */
  readonly redact?: (text: string) => string;
}
