import { sha256 } from "../base/hash.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import type { CatalogState } from "../catalog/state.ts";
import { policyLine } from "../prompt/policy-lines.ts";
import { type RenderedPrompt, type Segment, wordsOf } from "../prompt/render.ts";
import { readStamp, stampFields } from "../prompt/stamp.ts";
import type { AlignmentFault } from "./faults.ts";

/** The catalog as it is at the moment of the check. */
export type LiveCatalog = Pick<CatalogState, "epoch" | "mode" | "requestUserInputEnabled">;

/** What is checked together: a prompt, a snapshot of the catalog, and the catalog as it is now. */
export interface Story {
  readonly prompt: RenderedPrompt;
  readonly catalog: SessionToolCatalogSnapshot;
  readonly live: LiveCatalog;
  /** The one tool that the request will force the model to call. */
  readonly toolChoice?: string;
  /** Names of the tools that the conversation has called. */
  readonly calledTools?: Iterable<string>;
}

/**
 * The result of a check. `verified`: everything agrees, and the stamp proves it. `unverified`: nothing disagrees, but
 * the stamp that would prove it is missing. `misaligned`: see `faults`, most important first.
 */
export interface Verdict {
  readonly outcome: "verified" | "unverified" | "misaligned";
  readonly faults: readonly AlignmentFault[];
  /** Tools that the conversation has called and that are no longer offered. Repair of the conversation needs them. */
  readonly toolsGone: readonly string[];
}

/** Checks whether prompt, catalog and mode agree. It looks only at the prompt's own segments, not at other text. */
export function checkAlignment(story: Story): Verdict {
  const { prompt, catalog, toolChoice, calledTools = [] } = story;
  const chosen: AlignmentFault[] =
    toolChoice !== undefined && catalog.tool(toolChoice) === undefined
      ? [{ kind: "tool-choice-missing", tool: toolChoice }]
      : [];
  const faults = [...liveFaults(catalog, story.live), ...pairFaults(prompt, catalog), ...chosen];
  const outcome =
    faults.length === 0
      ? "verified"
      : faults.every(({ kind }) => kind === "stamp-missing")
        ? "unverified"
        : "misaligned";
  const toolsGone = [...new Set(calledTools)].filter((name) => catalog.tool(name) === undefined);
  return { outcome, faults, toolsGone };
}

/** What may have changed since the snapshot was taken. The mode first: everything else follows from it. */
export function liveFaults(catalog: SessionToolCatalogSnapshot, live: LiveCatalog): readonly AlignmentFault[] {
  const faults: AlignmentFault[] = [];
  if (catalog.mode !== live.mode) faults.push({ kind: "mode-mismatch", snapshot: catalog.mode, live: live.mode });
  if (catalog.requestUserInputEnabled !== live.requestUserInputEnabled)
    faults.push({
      kind: "user-input-mismatch",
      snapshot: catalog.requestUserInputEnabled,
      live: live.requestUserInputEnabled,
    });
  if (catalog.epoch !== live.epoch)
    faults.push({ kind: "catalog-stale", snapshotEpoch: catalog.epoch, liveEpoch: live.epoch });
  return faults;
}

const known = new WeakMap<RenderedPrompt, WeakMap<SessionToolCatalogSnapshot, readonly AlignmentFault[]>>();

/** Of a prompt and a snapshot, which are frozen both: what was found once is found again. */
function pairFaults(prompt: RenderedPrompt, catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  const before = known.get(prompt)?.get(catalog);
  if (before !== undefined) return before;
  const found = findPairFaults(prompt, catalog);
  if (!isFrozenWhole(prompt)) return found;
  const byCatalog = known.get(prompt) ?? new WeakMap<SessionToolCatalogSnapshot, readonly AlignmentFault[]>();
  known.set(prompt, byCatalog.set(catalog, found));
  return found;
}

/** Something put together by hand may still change, and must be looked at each time. */
function isFrozenWhole(prompt: RenderedPrompt): boolean {
  const { prefix, tail, toolHashes } = prompt;
  const segments = [...prefix, ...tail];
  const said = segments.flatMap(({ mentions, policyLines }) => [mentions, policyLines, ...mentions]);
  return [prompt, prefix, tail, toolHashes, ...segments, ...said].every(Object.isFrozen);
}

function findPairFaults(prompt: RenderedPrompt, catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  const segments = [...prompt.prefix, ...prompt.tail];
  return [
    ...stampFaults(segments, catalog),
    ...toolFaults(prompt, catalog),
    ...segments.filter(({ text, hash }) => sha256(text) !== hash).map(altered),
    ...(prompt.prefixText === wordsOf(prompt.prefix) ? [] : [altered({ id: "the prefix" })]),
    ...(prompt.tailText === wordsOf(prompt.tail) ? [] : [altered({ id: "the tail" })]),
    ...policyFaults(segments, catalog),
    ...segments.flatMap((segment) => mentionFaults(segment, catalog)),
  ];
}

/** Compared as they are written: a value that is no number is no match. */
function stampFaults(segments: readonly Segment[], catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  const stamp = segments.findLast(({ kind }) => kind === "stamp");
  const written = stamp === undefined ? undefined : readStamp(stamp.text);
  if (written === undefined) return [{ kind: "stamp-missing" }];
  return [...stampFields(catalog)].flatMap(([field, snapshotValue]): AlignmentFault[] => {
    const promptValue = written.get(field) ?? "nothing";
    return promptValue === snapshotValue ? [] : [{ kind: "stamp-mismatch", field, promptValue, snapshotValue }];
  });
}

function toolFaults({ toolHashes }: RenderedPrompt, catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  const names = new Set([...Object.keys(toolHashes), ...catalog.activeNames]);
  const tools = [...names].filter((name) => ownHash(toolHashes, name) !== catalog.toolHash(name)).toSorted();
  return tools.length === 0 ? [] : [{ kind: "tools-differ", tools }];
}

function ownHash(hashes: RenderedPrompt["toolHashes"], name: string): string | undefined {
  return Object.hasOwn(hashes, name) ? hashes[name] : undefined;
}

/** The line of this mode once, where it belongs; the other line nowhere among our own segments. */
function policyFaults(segments: readonly Segment[], catalog: SessionToolCatalogSnapshot): readonly AlignmentFault[] {
  const expectedLine = policyLine(catalog.mode, catalog.requestUserInputEnabled);
  const carrier = segments.find(({ kind }) => kind === "policy");
  if (carrier?.text !== expectedLine)
    return [{ kind: "policy-line", expectedLine, segment: carrier?.id ?? "the prompt" }];
  const wrong = segments.find(({ policyLines }) => policyLines.some((line) => line !== expectedLine));
  return wrong === undefined ? [] : [{ kind: "policy-line", expectedLine, segment: wrong.id }];
}

/** The canaries: what a segment says of tools, as it declared it, against what is offered. */
function mentionFaults(
  { id: segment, mentions }: Segment,
  catalog: SessionToolCatalogSnapshot,
): readonly AlignmentFault[] {
  return mentions.flatMap(({ tool, as, hash }): AlignmentFault[] => {
    const now = catalog.toolHash(tool);
    if (as === "blocked") return now === undefined ? [] : [{ kind: "tool-not-blocked", tool, segment }];
    if (now === undefined) return [{ kind: "tool-not-offered", tool, segment }];
    return hash === undefined || hash === now ? [] : [{ kind: "tool-changed", tool, segment }];
  });
}

function altered({ id }: Pick<Segment, "id">): AlignmentFault {
  return { kind: "segment-altered", segment: id };
}
