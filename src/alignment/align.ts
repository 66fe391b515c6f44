import type { Result } from "../base/result.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import type { PromptFault, RenderedPrompt } from "../prompt/render.ts";
import { checkAlignment, type LiveCatalog, liveFaults, type Story, type Verdict } from "./check.ts";
import { type AlignmentFault, explainFault } from "./faults.ts";

declare const aligned: unique symbol;

/** The receipt of alignment: this prompt and this catalog were checked together. Only alignment makes one. */
export interface AlignedPrompt {
  readonly [aligned]: true;
  readonly prompt: RenderedPrompt;
  readonly catalog: SessionToolCatalogSnapshot;
  /** The faults that were found first, if prompt and snapshot had to be rebuilt. */
  readonly healed: readonly AlignmentFault[];
  /** The faults in spite of which it is sent, and why, with `sendMisaligned`. */
  readonly overridden?: { readonly because: string; readonly faults: readonly AlignmentFault[] };
  /** The text of `sendMisaligned`: it is sent whatever is found later. */
  readonly insisted?: string;
  /** Tools that the conversation has called and that are no longer offered. */
  readonly toolsGone: readonly string[];
}

/** Where alignment gets prompt, snapshot and current catalog. */
export interface StorySources {
  /** Prompt and snapshot of the last request, to be used again if they still agree. */
  readonly held?: Pick<Story, "prompt" | "catalog">;
  /** Takes a snapshot of the catalog. */
  takeSnapshot(): SessionToolCatalogSnapshot;
  /** Renders the prompt for a snapshot. */
  render(catalog: SessionToolCatalogSnapshot): Result<RenderedPrompt, readonly PromptFault[]>;
  /** The current catalog, read again for every check. */
  live(): LiveCatalog;
}

/** Options of `alignPrompt`. */
export interface AlignOptions extends Pick<Story, "toolChoice" | "calledTools"> {
  /** Sends a misaligned request anyway. The text says why, and is recorded with the request. Default: it is refused. */
  readonly sendMisaligned?: string;
}

/** Why a request was refused: the faults found first, those left after a rebuild, and these in words. */
export interface AlignmentReport {
  readonly first: readonly AlignmentFault[];
  readonly afterRebuild: readonly AlignmentFault[];
  readonly says: readonly string[];
}

/** The result of alignment: the receipt, or why the request is refused. */
export type Alignment =
  | { readonly ok: true; readonly aligned: AlignedPrompt }
  | { readonly ok: false; readonly report: AlignmentReport };

/** Checks that prompt, catalog and mode agree; if not, rebuilds both once. What still disagrees is refused. */
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

/** What has changed since alignment. Ask just before sending: the mode may have changed while something was awaited. */
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
