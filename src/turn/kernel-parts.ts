import { execPart } from "../exec/evidence.ts";
import { WORKSPACE_PART, workspacePart } from "../files/host/part.ts";
import { filesPart } from "../files/part.ts";
import type { Json } from "../base/json.ts";
import { DEFAULT_SLICES } from "../state/default-slices.ts";
import { closedPart, opaquePart, type PartIntroduction } from "../state/opaque.ts";
import type { AnyPart, Parts, SlicePolicy } from "../state/part.ts";
import { resourcesPart } from "../state/resources-part.ts";
import { type AnySlice, anyPartOf } from "../state/slice.ts";
import type { ToolPolicy } from "../transaction/policy.ts";
import { catalogPart } from "./catalog-part.ts";
import { ContextLineage, PinnedRules } from "./context-slices.ts";
import { Programs } from "./programs.ts";
import { DurableState, StagedWritebacks, WritebackCount } from "./writeback-slices.ts";

/** What every kernel brings, whoever starts it: the seed's slices, its own, files, catalog, resources, what commands did. */
export const KERNEL_PARTS: readonly AnyPart[] = [
  ...[...DEFAULT_SLICES, PinnedRules, ContextLineage].map(anyPartOf),
  ...[StagedWritebacks, DurableState, WritebackCount].map((slice: AnySlice) => anyPartOf(slice)),
  filesPart,
  catalogPart,
  resourcesPart,
  execPart,
];

/** What a kernel is given that brings parts with it. */
interface PartSources {
  readonly slices?: readonly AnySlice[];
  readonly policies?: readonly Pick<ToolPolicy, "slices">[];
  readonly parts?: readonly AnyPart[];
  readonly workspace?: unknown;
  readonly code?: unknown;
}

/** Every part a kernel knows: what every kernel brings, and what this one was given. */
export function partsOf({ slices = [], policies = [], parts = [], workspace, code }: PartSources): readonly AnyPart[] {
  const programs: readonly AnySlice[] = code === undefined ? [] : [Programs];
  const theirs = [...slices, ...programs, ...policies.flatMap((policy) => policy.slices ?? [])].map(anyPartOf);
  const workspaces = workspace === undefined ? [] : [workspacePart];
  return [...new Set([...KERNEL_PARTS, ...theirs, ...workspaces, ...parts])];
}

/** Wherever a session's files lie. */
export const FILE_PARTS: readonly string[] = [filesPart.name, WORKSPACE_PART];

const EXACT: ReadonlySet<string> = new Set(
  [...KERNEL_PARTS, workspacePart].flatMap(({ name, exact }) => (exact === true ? [name] : [])),
);

/** Kept byte for byte, whatever it holds: files, and the catalog. */
export function isExactPart(name: string): boolean {
  return EXACT.has(name);
}

const DEFAULTS: ReadonlySet<string> = new Set(DEFAULT_SLICES.map((slice) => anyPartOf(slice).name));

/** Brought by every state by itself: listed a second time, it would be there twice. */
export function isDefault(name: string): boolean {
  return DEFAULTS.has(name);
}

/** Known to every kernel, though only sessions with a folder have it. */
const KNOWN: ReadonlySet<string> = new Set([...KERNEL_PARTS.map(({ name }) => name), WORKSPACE_PART]);

/** Whether processes that do not know a part must be told of it, and could follow its changes. */
export function isIntroduced(part: AnyPart): boolean {
  return part.plain === true && !KNOWN.has(part.name);
}

/** What to tell of a part to processes that do not know it. */
export function introductionOf(part: AnyPart | undefined): PartIntroduction | undefined {
  if (part === undefined || !isIntroduced(part)) return undefined;
  return { policy: part.policy, initial: part.encode(part.initial as never) };
}

/** Introductions of those parts among these names that the journal has not told of yet. */
export function introductions(
  names: readonly string[],
  parts: Parts,
  told: ReadonlySet<string>,
): Readonly<Record<string, PartIntroduction>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const introduction = told.has(name) ? undefined : introductionOf(parts.get(name));
      return introduction === undefined ? [] : [[name, introduction] as const];
    }),
  );
}

/** The part that carries what this process does not know. */
export function strangerPart(name: string, told: { readonly policy: string; readonly initial?: Json }): AnyPart {
  if (name === WORKSPACE_PART) return workspacePart;
  const policy = told.policy as SlicePolicy;
  return told.initial === undefined ? closedPart(name, policy) : opaquePart(name, { policy, initial: told.initial });
}
