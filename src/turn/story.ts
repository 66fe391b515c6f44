import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type AlignedPrompt, type Alignment, alignPrompt, stillAligned } from "../alignment/align.ts";
import { AlignmentCounters } from "../alignment/counters.ts";
import { type AlignmentFault, explainFault } from "../alignment/faults.ts";
import { checkRequest } from "../alignment/request.ts";
import type { SentRequest } from "../contracts/model.ts";
import { type HistoryGlance, historyBlock } from "../history/history-block.ts";
import { type RenderedPrompt, type RenderOptions, renderPrompt } from "../prompt/render.ts";
import { definePrompt, type Prompt } from "../prompt/section.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { PromptRendered, VisibilityOverrides } from "../state/default-slices.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { SliceEvent } from "../state/slice.ts";
import type { SessionCatalog } from "./session-catalog.ts";
import type { Teller } from "./teller.ts";

/** What a request says in addition to the conversation and the tools. */
export interface StoryOptions extends Pick<RenderOptions, "parameters" | "overrides"> {
  /** Added after the prompt's own sections, word for word, in every request. */
  readonly instructions?: string;
  /**
   * Sends misaligned requests anyway. The text says why, and is recorded with each of them. Default: they are refused.
   */
  readonly sendMisaligned?: string;
}

/** What else alignment checks of a request. */
export interface StoryRequest {
  /** The one tool that the request forces the model to call. */
  readonly toolChoice?: string;
  /** Names of the tools that the conversation has called. The receipt lists those that are no longer offered. */
  readonly calledTools?: Iterable<string>;
}

const MOST_SYNCS = 8;

type Overridden = NonNullable<AlignedPrompt["overridden"]>;

interface Told {
  readonly inputs: readonly unknown[];
  readonly prompt: RenderedPrompt;
  readonly catalog: AlignedPrompt["catalog"];
}

/** The station that lets a request through only if its prompt, tools and mode agree. */
export class Story {
  readonly catalog: SessionCatalog;
  readonly counters = new AlignmentCounters();
  readonly #state: ExecutionState;
  readonly #prompt: Prompt;
  readonly #teller: Teller | undefined;
  readonly #history: (() => Promise<HistoryGlance>) | undefined;
  readonly #overridden: Overridden[] = [];
  #told: Told | undefined;
  #logged: string | undefined;
  /** The lines about history, as of the newest request. */
  #block: string | undefined;

  constructor(
    state: ExecutionState,
    catalog: SessionCatalog,
    how: {
      readonly prompt?: Prompt;
      readonly teller?: Teller;
      /** What there is to read for programs, where there are any. */
      readonly history?: () => Promise<HistoryGlance>;
    } = {},
  ) {
    this.#state = state;
    this.catalog = catalog;
    this.#prompt = how.prompt ?? NO_PROMPT;
    this.#teller = how.teller;
    this.#history = how.history;
  }

  /** Builds what is missing, checks it, heals once, and returns the receipt or the report. */
  async align(options: StoryOptions & StoryRequest = {}): Promise<Alignment> {
    if (this.#history !== undefined) this.#block = historyBlock(await this.#history());
    // Last, with nothing awaited behind it. Tools may come and go while it is written that others came; whoever never
    // stops is refused a receipt.
    for (let times = 0; times === 0 || (times < MOST_SYNCS && !this.catalog.isWritten); times += 1)
      await this.catalog.sync();
    return this.alignNow(options);
  }

  /** The same without waiting for anything: what it finds is of one moment. */
  alignNow(options: StoryOptions & StoryRequest): Alignment {
    const { toolChoice, calledTools, sendMisaligned } = options;
    const visibility = this.#state.session.get(VisibilityOverrides);
    const inputs = [visibility, this.#block, ...wordsIn(options)];
    const alignment = alignPrompt(
      {
        ...this.#held(inputs),
        takeSnapshot: () => this.catalog.snapshot(),
        render: (catalog) => this.#render({ ...options, catalog, visibility }),
        live: () => this.catalog.live,
      },
      {
        ...(toolChoice === undefined ? {} : { toolChoice }),
        ...(calledTools === undefined ? {} : { calledTools }),
        ...(sendMisaligned === undefined ? {} : { sendMisaligned }),
      },
    );
    this.counters.count(alignment);
    if (alignment.ok) {
      const { prompt, catalog, healed } = alignment.aligned;
      if (healed.length > 0) this.#teller?.moment("prompt-healed", { faults: healed.map(({ kind }) => kind) });
      this.#told = { inputs, prompt, catalog };
      this.catalog.offer(catalog);
    }
    return alignment;
  }

  /**
   * Checks the request at the moment of sending: the body that the adapter wrote, against what is true now. Throws
   * PROMPT_MISALIGNED, so that nothing is sent. With `sendMisaligned` it does not throw; what it finds is then reported
   * and recorded: see `takeOverridden`.
   */
  inspect(aligned: AlignedPrompt, sent: SentRequest | undefined): void {
    const faults = [
      ...stillAligned(aligned, this.catalog.live),
      ...(sent === undefined ? [] : checkRequest(sent, aligned.catalog, aligned.prompt)),
    ];
    if (faults.length === 0) return;
    const known = new Set(aligned.overridden?.faults.map((fault) => JSON.stringify(fault)));
    const news = faults.filter((fault) => !known.has(JSON.stringify(fault)));
    this.counters.countFaults(faults);
    if (aligned.insisted === undefined) throw misaligned(faults);
    if (news.length > 0) this.#overridden.push({ because: aligned.insisted, faults: news });
  }

  /** Faults that were found in the moment of sending and overridden, since it was last asked: to be told and written down. */
  takeOverridden(): readonly Overridden[] {
    return this.#overridden.splice(0);
  }

  /** What the journal and the log are told of a request that is about to be sent. */
  notesOf({ prompt, catalog, overridden }: AlignedPrompt): {
    readonly drafts: readonly RecordDraft[];
    readonly events: readonly SliceEvent[];
  } {
    const sent = [...this.takeOverridden(), ...(overridden === undefined ? [] : [overridden])];
    const drafts = sent.map(sentRecord);
    if (this.#logged === prompt.hash) return { drafts, events: [] };
    this.#logged = prompt.hash;
    const { name, hash, prefixHash } = prompt;
    const { epoch, contentHash } = catalog;
    const at = instantOf(this.#state.clock);
    return { drafts, events: [PromptRendered.rendered({ prompt: name, at, hash, prefixHash, epoch, contentHash })] };
  }

  /** Those of these sections that the prompt has. */
  sectionsAmong(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => this.#prompt.sections.some((section) => section.id === id));
  }

  /** Whether there are programs that can read the history. */
  get hasHistory(): boolean {
    return this.#history !== undefined;
  }

  #held(inputs: readonly unknown[]): { readonly held?: Omit<Told, "inputs"> } {
    const told = this.#told;
    const same = told?.inputs.length === inputs.length && told.inputs.every((input, index) => input === inputs[index]);
    return same && told.catalog === this.catalog.snapshot() ? { held: told } : {};
  }

  #render({ instructions, ...given }: StoryOptions & RenderOptions) {
    const options = this.#block === undefined ? given : { ...given, history: this.#block };
    if (instructions === undefined) return renderPrompt(this.#prompt, options);
    // The host's own words, so a policy line among them counts as one of ours.
    const told = { id: "instructions", body: instructions, verbatim: true } as const;
    return renderPrompt({ ...this.#prompt, sections: [...this.#prompt.sections, told] }, options);
  }
}

/** What the options say, word by word: the objects are the caller's, who may say something else in them the next time. */
function wordsIn({ instructions, parameters, overrides }: StoryOptions): readonly unknown[] {
  const given = Object.entries(parameters ?? {}).flat();
  const others = (overrides ?? []).flatMap(({ section, replaces, body }) => [section, replaces, body]);
  return [instructions, given.length, ...given, ...others];
}

export function misaligned(faults: readonly AlignmentFault[]): HoldfastError {
  const details = { faults: faults.map(({ kind }) => kind), says: faults.map(explainFault) };
  return new HoldfastError("PROMPT_MISALIGNED", details, { cause: faults });
}

/** What the journal is told of a request that was sent because somebody insisted. */
export function sentRecord(overridden: Overridden): RecordDraft {
  return faultRecord("misaligned-request-sent", overridden);
}

export function faultRecord(fault: string, detail: unknown): RecordDraft {
  return { kind: "fault-raised", fault, detail: detail as Json };
}

const NO_PROMPT = definePrompt("default", []);
