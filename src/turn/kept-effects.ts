import type { Json } from "../base/json.ts";
import type { BlobRef } from "../records/kinds.ts";
import { type EffectEntry, effectId, type Standing } from "../transaction/effect.ts";

/** An effect as the chain tells of it. */
export interface FoldedEffect {
  readonly entry: EffectEntry;
  readonly standing: Standing;
  readonly owners: readonly string[];
  /** Where a checkpoint has put its arguments and its result: here they are null, and only content tells them. */
  readonly place?: EffectPlace;
}

type Range = readonly [from: number, to: number];

export interface EffectPlace {
  readonly content: BlobRef;
  readonly args?: Range;
  readonly result?: Range;
}

/** The same in the record of a checkpoint, where one content is named once, however many effects lie in it. */
interface KeptEffect extends Omit<FoldedEffect, "place"> {
  readonly place?: Omit<EffectPlace, "content"> & { readonly in: number };
}

export interface KeptEffects {
  readonly effects: readonly KeptEffect[];
  readonly effectContents?: readonly BlobRef[];
}

/** Where the next checkpoint finds what an effect of that generation said; nowhere, when that is lost. */
export interface PlacedEffect {
  readonly generation: number;
  readonly place: EffectPlace | undefined;
}

/** What a checkpoint says of effects. */
export function keptEffectsOf(effects: readonly FoldedEffect[]): KeptEffects {
  const contents = new Map<string, BlobRef>();
  for (const { place } of effects) if (place !== undefined) contents.set(place.content.name, place.content);
  const names = [...contents.keys()];
  const kept = effects.map(({ place, ...effect }): KeptEffect => {
    if (place === undefined) return effect;
    const { content, ...ranges } = place;
    return { ...effect, place: { in: names.indexOf(content.name), ...ranges } };
  });
  return names.length === 0 ? { effects: kept } : { effects: kept, effectContents: [...contents.values()] };
}

/** What it said, in the order they were begun. */
export function effectsIn({ effects, effectContents = [] }: KeptEffects): readonly FoldedEffect[] {
  return effects.map(({ place, ...effect }) => {
    const { in: nth = -1, ...ranges } = place ?? {};
    const content = effectContents[nth];
    return content === undefined ? effect : { ...effect, place: { content, ...ranges } };
  });
}

/** What is long enough to lie in content. */
export interface Said {
  readonly args?: Json;
  readonly result?: Json;
}

/** What takes less stands in the checkpoint: saying where it lies would take as much. */
const SMALL = 128;

export function largeIn({ entry: { args }, standing }: FoldedEffect): Said {
  const result = "result" in standing ? standing.result : null;
  return { ...(isLarge(args) ? { args } : {}), ...(isLarge(result) ? { result } : {}) };
}

/** So long that it goes into content with the next checkpoint; what came of one whose arguments lie there follows them. */
export function isToPlace(effect: FoldedEffect): boolean {
  return Object.keys(largeIn(effect)).length > 0;
}

function isLarge(value: Json): boolean {
  return value !== null && JSON.stringify(value).length > SMALL;
}

/** The effect as it is kept from here on: what lies in content is not said again. */
export function placed(effect: FoldedEffect, places: ReadonlyMap<string, PlacedEffect>): FoldedEffect {
  const found = places.get(effectId(effect.entry));
  // Undone and done anew since it was staged: that content is of the older one.
  if (found === undefined || found.generation !== effect.entry.generation) return effect;
  const { place } = found;
  if (place === undefined) return lost(effect);
  const { entry, standing, owners } = effect;
  return {
    entry: place.args === undefined ? entry : { ...entry, args: null },
    standing: "result" in standing && place.result !== undefined ? { ...standing, result: null } : standing,
    owners,
    place,
  };
}

/** What it said is gone: nobody can undo it or answer its result, and it must not happen again. */
export function lost({ entry, standing, owners }: FoldedEffect): FoldedEffect {
  return { entry, standing: standing.is === "undone" ? standing : { is: "unknown" }, owners };
}

/**
 * Nothing can undo it any more, so nobody asks for its arguments. `outOfReach`: those of its owners. Were another one kept
 * in their place, taking that one back would undo it under them, and with no arguments.
 */
export function withoutArguments(
  { entry, standing, place }: FoldedEffect,
  outOfReach: readonly string[],
): FoldedEffect {
  const { args: _args, ...rest } = place ?? {};
  const kept = { entry: { ...entry, args: null }, standing, owners: outOfReach.slice(0, 1) };
  return "content" in rest && rest.result !== undefined ? { ...kept, place: rest } : kept;
}

/** Those whose arguments no checkpoint keeps any more, or that had none. */
export function beyondUndoing(effects: readonly FoldedEffect[]): readonly EffectEntry[] {
  return effects.flatMap(({ entry, place }) => (entry.args === null && place?.args === undefined ? [entry] : []));
}
