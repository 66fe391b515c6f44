import type { Compressor } from "../contracts/compressor.ts";
import type { Summariser } from "../contracts/summariser.ts";
import type { TokenCounter } from "../contracts/token-counter.ts";
import type { Marks } from "../context/derive.ts";
import type { Page } from "../context/page.ts";
import type { Preference, Rule } from "../context/producers.ts";
import type { UpgradeOrder } from "../context/select.ts";
import type { DerivePolicy } from "../context/view.ts";
import type { ProjectOptions } from "./project-rules.ts";
import type { PageSources } from "./session-pages.ts";
import type { Shelves } from "./shelves.ts";

/** When and how a conversation is compacted by itself. */
export interface CompactionOptions {
  /** The trigger, as a share of the budget. From nine tenths of it the end of the turn is waited for. */
  readonly at: number;
  /** Default: one without a model. */
  readonly summariser?: Summariser;
}

export interface ContextOptions {
  /** How many tokens the model reads and writes in one request. Default 128 000. */
  readonly window?: number;
  /** Default: an estimate, calibrated by what the provider reports. */
  readonly counter?: TokenCounter;
  readonly compressor?: Compressor;
  /** How long a request waits for a compressor that asks a model, in milliseconds. Default 20 000. */
  readonly patienceMs?: number;
  /** Default `incremental`. */
  readonly policy?: DerivePolicy;
  readonly marks?: Partial<Marks>;
  /** How what is left of the budget is given to pages. Default `utility`. */
  readonly order?: UpgradeOrder;
  /** For `oracle`: how often a page will be wanted in the next three turns. */
  readonly foresight?: (page: Page) => number;
  /** Without it, pages are lowered under pressure and nothing is summarised. */
  readonly compaction?: CompactionOptions;
  /** Hold in every session, each under an id of its own, also before a rule of that id in the project's files. */
  readonly rules?: readonly Rule[];
  /** `true`, or which files: rules are also what the session's own files say, `AGENTS.md` and the goals of `.tasks.jsonl`. */
  readonly project?: true | ProjectOptions;
  readonly preferences?: readonly Preference[];
  /** `false`: the model is not offered `recall`. */
  readonly recall?: boolean;
}

/** What a view is asked for. */
export interface ViewAsk extends Pick<PageSources, "history" | "idOf"> {
  /** What stands around the conversation in the request: instructions, tools, stamp. */
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
