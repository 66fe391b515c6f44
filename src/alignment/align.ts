import type { Result } from "../base/result.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import type { PromptFault, RenderedPrompt } from "../prompt/render.ts";
import { checkAlignment, type LiveCatalog, liveFaults, type Story, type Verdict } from "./check.ts";
import { type AlignmentFault, explainFault } from "./faults.ts";

declare const aligned: unique symbol;

/** The receipt of this station: prompt and catalog were checked together. Made only here. */
export interface AlignedPrompt {
  readonly [aligned]: true;
  readonly prompt: RenderedPrompt;
  readonly catalog: SessionToolCatalogSnapshot;
  /** What was found first, when it had to be built anew. */
  readonly healed: readonly AlignmentFault[];
  /** Sent in spite of these faults, because somebody insisted. */
  readonly overridden?: { readonly because: string; readonly faults: readonly AlignmentFault[] };
  /** Why somebody wants it sent, whatever is found later. */
  readonly insisted?: string;
  /** Tools of the conversation that are no longer offered. */
  readonly toolsGone: readonly string[];
}

/** Where the station gets its parts. */
export interface StorySources {
  /** What the last request was made of, if it is still at hand. */
  readonly held?: Pick<Story, "prompt" | "catalog">;
  takeSnapshot(): SessionToolCatalogSnapshot;
  render(catalog: SessionToolCatalogSnapshot): Result<RenderedPrompt, readonly PromptFault[]>;
  /** Read anew for every check. */
  live(): LiveCatalog;
}

export interface AlignOptions extends Pick<Story, "toolChoice" | "calledTools"> {
  /** Sends what is misaligned all the same, and says why. It is recorded with the request. */
  readonly sendMisaligned?: string;
}

/** Why a request is refused: what was found first, and what was still wrong after everything was built anew. */
export interface AlignmentReport {
  readonly first: readonly AlignmentFault[];
  readonly afterRebuild: readonly AlignmentFault[];
  readonly says: readonly string[];
}

export type Alignment =
  | { readonly ok: true; readonly aligned: AlignedPrompt }
  | { readonly ok: false; readonly report: AlignmentReport };

/** Checks, and heals by building snapshot and prompt anew, exactly once. What is still misaligned is refused. */
export function alignPrompt(sources: StorySources, options: AlignOptions = {}): Alignment {
  const first = tell(sources, options, sources.held ?? build(sources));
  const { sendMisaligned } = options;
  if (first.verdict.outcome === "verified") return receipt(first, [], sendMisaligned);
  const second = tell(sources, options, build(sources));
  if (second.verdict.outcome === "verified") return receipt(second, first.verdict.faults, sendMisaligned);
  if (sendMisaligned !== undefined && second.story !== undefined)
    return receipt(second, first.verdict.faults, sendMisaligned, second.verdict.faults);
  const afterRebuild = second.verdict.faults;
  return { ok: false, report: { first: first.verdict.faults, afterRebuild, says: afterRebuild.map(explainFault) } };
}

/** Asked once more at the very moment of sending: whatever was awaited in between may have changed the mode. */
export function stillAligned({ catalog }: AlignedPrompt, live: LiveCatalog): readonly AlignmentFault[] {
  return liveFaults(catalog, live);
}

type Built = Pick<Story, "prompt" | "catalog"> | { readonly unrendered: readonly PromptFault[] };

interface Told {
  readonly story?: Pick<Story, "prompt" | "catalog">;
  readonly verdict: Verdict;
}

function build(sources: StorySources): Built {
  const catalog = sources.takeSnapshot();
  const rendered = sources.render(catalog);
  return rendered.ok ? { prompt: rendered.value, catalog } : { unrendered: rendered.error };
}

function tell(sources: StorySources, options: AlignOptions, built: Built): Told {
  if ("unrendered" in built) {
    const faults = built.unrendered.map((why): AlignmentFault => ({ kind: "prompt-not-rendered", why }));
    return { verdict: { outcome: "misaligned", faults, toolsGone: [] } };
  }
  return { story: built, verdict: checkAlignment({ ...built, ...options, live: sources.live() }) };
}

function receipt(
  { story, verdict }: Told,
  healed: readonly AlignmentFault[],
  insisted: string | undefined,
  faults: readonly AlignmentFault[] = [],
): Alignment {
  if (story === undefined) throw new Error("a receipt without a story");
  const { toolsGone } = verdict;
  const made = {
    ...story,
    healed,
    toolsGone,
    ...(insisted === undefined ? {} : { insisted }),
    ...(insisted === undefined || faults.length === 0 ? {} : { overridden: { because: insisted, faults } }),
  };
  return { ok: true, aligned: Object.freeze(made) as AlignedPrompt };
}
