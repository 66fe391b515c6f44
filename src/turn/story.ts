import { instantOf } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { type AlignedPrompt, type Alignment, alignPrompt, stillAligned } from "../alignment/align.ts";
import { AlignmentCounters } from "../alignment/counters.ts";
import { type AlignmentFault, explainFault } from "../alignment/faults.ts";
import { checkRequest } from "../alignment/request.ts";
import type { SentRequest } from "../contracts/model.ts";
import { type RenderedPrompt, type RenderOptions, renderPrompt } from "../prompt/render.ts";
import { definePrompt, type Prompt } from "../prompt/section.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { PromptRendered, VisibilityOverrides } from "../state/default-slices.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { SliceEvent } from "../state/slice.ts";
import type { SessionCatalog } from "./session-catalog.ts";
import type { Teller } from "./teller.ts";

/** What a request says beside the conversation and the tools. */
export interface StoryOptions extends Pick<RenderOptions, "parameters" | "overrides"> {
  /** Told after the prompt's own sections, word for word, in every request. */
  readonly instructions?: string;
  /** Sends requests that are misaligned all the same, and says why. It is recorded with each of them. */
  readonly sendMisaligned?: string;
}

interface Told {
  readonly inputs: readonly unknown[];
  readonly prompt: RenderedPrompt;
  readonly catalog: AlignedPrompt["catalog"];
}

/** The station that lets only requests through whose prompt, tools and mode agree. */
export class Story {
  readonly catalog: SessionCatalog;
  readonly counters = new AlignmentCounters();
  readonly #state: ExecutionState;
  readonly #prompt: Prompt;
  readonly #teller: Teller | undefined;
  #told: Told | undefined;
  #logged: string | undefined;

  constructor(
    state: ExecutionState,
    catalog: SessionCatalog,
    how: { readonly prompt?: Prompt; readonly teller?: Teller } = {},
  ) {
    this.#state = state;
    this.catalog = catalog;
    this.#prompt = how.prompt ?? NO_PROMPT;
    this.#teller = how.teller;
  }

  /** Builds what was not built yet, checks it, heals once, and hands out the receipt or the report. */
  async align(options: StoryOptions & { readonly toolChoice?: string } = {}): Promise<Alignment> {
    await this.catalog.sync();
    return this.alignNow(options);
  }

  /** The same without waiting for anything: what it finds is of one moment. */
  alignNow(options: StoryOptions & { readonly toolChoice?: string }): Alignment {
    const { instructions, parameters, overrides, toolChoice, sendMisaligned } = options;
    const visibility = this.#state.session.get(VisibilityOverrides);
    const inputs = [visibility, instructions, parameters, overrides];
    const alignment = alignPrompt(
      {
        ...this.#held(inputs),
        takeSnapshot: () => this.catalog.snapshot(),
        render: (catalog) => this.#render({ ...options, catalog, visibility }),
        live: () => this.catalog.state,
      },
      {
        ...(toolChoice === undefined ? {} : { toolChoice }),
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
   * Looks at the request in the moment in which it is sent: at the body that the adapter wrote, and at what is true now.
   * Throws PROMPT_MISALIGNED, so that nothing leaves, unless the receipt says that somebody insisted.
   */
  inspect(aligned: AlignedPrompt, sent: SentRequest | undefined): void {
    const faults = [
      ...stillAligned(aligned, this.catalog.state),
      ...(sent === undefined ? [] : checkRequest(sent, aligned.catalog)),
    ];
    if (faults.length === 0) return;
    this.counters.countFaults(faults);
    if (aligned.overridden === undefined) throw misaligned(faults);
  }

  /** What the journal and the log are told of a request that is about to be sent. */
  notesOf({ prompt, catalog, overridden }: AlignedPrompt): {
    readonly drafts: readonly RecordDraft[];
    readonly events: readonly SliceEvent[];
  } {
    const drafts = overridden === undefined ? [] : [faultRecord("misaligned-request-sent", overridden)];
    if (this.#logged === prompt.hash) return { drafts, events: [] };
    this.#logged = prompt.hash;
    const { name, hash, prefixHash } = prompt;
    const { epoch, contentHash } = catalog;
    const at = instantOf(this.#state.clock);
    return { drafts, events: [PromptRendered.rendered({ prompt: name, at, hash, prefixHash, epoch, contentHash })] };
  }

  /** The name of the prompt, for the log. */
  get name(): string {
    return this.#prompt.name;
  }

  #held(inputs: readonly unknown[]): { readonly held?: Omit<Told, "inputs"> } {
    const told = this.#told;
    const same = told?.inputs.every((input, index) => input === inputs[index]) === true;
    return same && told.catalog === this.catalog.snapshot() ? { held: told } : {};
  }

  #render({ instructions, ...options }: StoryOptions & RenderOptions) {
    if (instructions === undefined) return renderPrompt(this.#prompt, options);
    const prompt = { ...this.#prompt, sections: [...this.#prompt.sections, INSTRUCTIONS] };
    return renderPrompt(prompt, { ...options, parameters: { ...options.parameters, [GIVEN]: instructions } });
  }
}

export function misaligned(faults: readonly AlignmentFault[]): HoldfastError {
  const details = { faults: faults.map(({ kind }) => kind), says: faults.map(explainFault) };
  return new HoldfastError("PROMPT_MISALIGNED", details, { cause: faults });
}

export function faultRecord(fault: string, detail: unknown): RecordDraft {
  return { kind: "fault-raised", fault, detail: detail as Json };
}

const NO_PROMPT = definePrompt("default", []);
/** Given as a parameter: its own braces ask for nothing. */
const GIVEN = "__instructions";
const INSTRUCTIONS = { id: "instructions", body: `{{${GIVEN}}}`, order: Number.MAX_SAFE_INTEGER } as const;
