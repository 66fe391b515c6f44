import type { BodyOf } from "../records/kinds.ts";
import { type EffectEntry, effectId, SOMEBODY_ELSE, type Standing } from "../transaction/effect.ts";
import { FoldedEffects } from "./folded-effects.ts";
import { type FoldedEffect, withoutArguments } from "./kept-effects.ts";
import { innerOf, type Inside } from "./tool-boundaries.ts";

export function effectOpened(effects: FoldedEffects, record: BodyOf<"effect-opened">): FoldedEffects {
  const { tool, name, key, callId, args, generation } = record;
  const entry = { tool, name, key, callId, args, generation };
  return withEffect(effects, record, () => ({ entry, standing: { is: "open" }, owners: [callId] }));
}

export function effectDone(effects: FoldedEffects, record: BodyOf<"effect-done">): FoldedEffects {
  const { result } = record;
  return withEffect(effects, record, (known) => {
    // Of one whose beginning is lost nobody knows who relies on it.
    const isWanted = known.owners.length > 0 || known.entry.callId === "";
    return { ...known, standing: isWanted ? { is: "done", result } : { is: "undoing", result, begun: false } };
  });
}

export function effectJoined(effects: FoldedEffects, record: BodyOf<"effect-joined">): FoldedEffects {
  return withEffect(effects, record, ({ standing, owners, ...known }) => ({
    ...known,
    // A rewind had come to others first, and it is wanted again: nobody had begun to undo it.
    standing: standing.is === "undoing" && !standing.begun ? { is: "done", result: standing.result } : standing,
    owners: [...(standing.is === "done" && owners.length === 0 ? [SOMEBODY_ELSE] : owners), record.callId],
  }));
}

/** A part of the call was rolled back; with nobody else left, that is to be undone which the part had asked for. */
export function effectLeft(effects: FoldedEffects, record: BodyOf<"effect-left">): FoldedEffects {
  const { callId } = record;
  // Of one who left before it was written down that they had joined, or had begun it, nothing was known.
  if (effects.get(effectId(record))?.owners.includes(callId) !== true) return effects;
  return withEffect(effects, record, (known) => letGo(known, new Set([callId])));
}

/** Also what is told twice, because nobody knew whether the first time was written. */
export function effectUndone(effects: FoldedEffects, record: BodyOf<"effect-undone">): FoldedEffects {
  const { how, detail = "" } = record;
  const standingAfter = (standing: Standing): Standing => {
    if (how === "undone") return { is: "undone" };
    if (!("result" in standing)) return standing.is === "undone" ? standing : { is: "unknown" };
    const { result } = standing;
    return how === "undoing" ? { is: "undoing", result, begun: true } : { is: "not-undone", result, detail };
  };
  return withEffect(effects, record, (known) => ({ ...known, standing: standingAfter(known.standing) }));
}

function withEffect(
  effects: FoldedEffects,
  about: Pick<EffectEntry, "tool" | "name" | "key" | "generation">,
  change: (known: FoldedEffect) => FoldedEffect,
): FoldedEffects {
  const { tool, name, key, generation } = about;
  const lost: FoldedEffect = {
    entry: { tool, name, key, generation, callId: "", args: null },
    standing: { is: "open" },
    owners: [],
  };
  const next = change(effects.get(effectId(about)) ?? lost);
  // Late news of one that was undone, and done anew since, says nothing of the newer one.
  return next.entry.generation > generation ? effects : effects.with([next]);
}

/**
 * Calls that were taken back rely on nothing. What only they relied on is as good as undone from here on: a process that
 * dies before it has done so leaves that to the next.
 */
export function withoutOwners(effects: FoldedEffects, gone: ReadonlySet<string>, inside: Inside): FoldedEffects {
  return released(effects, gone, inside, () => true);
}

/**
 * The same when a call was discarded, for what is done or about to be. What was undone remembers whose it was, as long as a
 * boundary of theirs can be returned to.
 */
export function withoutDiscarded(effects: FoldedEffects, callId: string, inside: Inside): FoldedEffects {
  return released(effects, new Set([callId]), inside, ({ is }) => is === "done" || is === "open");
}

function released(
  effects: FoldedEffects,
  calls: ReadonlySet<string>,
  inside: Inside,
  which: (standing: Standing) => boolean,
): FoldedEffects {
  const gone = calls.union(new Set(innerOf(calls, inside)));
  return effects.with(
    effects
      .ownedBy(gone)
      .filter(({ standing }) => which(standing))
      .map((effect) => letGo(effect, gone)),
  );
}

function letGo(effect: FoldedEffect, gone: ReadonlySet<string>): FoldedEffect {
  const owners = effect.owners.filter((owner) => !gone.has(owner));
  const { standing } = effect;
  if (owners.length > 0 || standing.is !== "done") return { ...effect, owners };
  return { ...effect, owners, standing: { is: "undoing", result: standing.result, begun: false } };
}

/** A fork inherits effects and never undoes them: nobody here relies on them. */
export function inherited(effects: FoldedEffects): FoldedEffects {
  const ours = effects.values().map((effect): FoldedEffect => {
    // Whether the origin has undone it by now is not known here.
    const standing: Standing = effect.standing.is === "undoing" ? { is: "unknown" } : effect.standing;
    return { ...effect, standing, owners: [] };
  });
  return FoldedEffects.of(ours);
}

/**
 * What a checkpoint must say of effects, where these calls are open or can be returned to. Keys are kept for ever, because
 * what was done must not be done again. An undone effect that no boundary reaches may go: its key was free. One that
 * somebody out of reach relies on can never be undone, nor can one that a fork has inherited, so its arguments may go.
 */
export function effectsWithin(
  effects: readonly FoldedEffect[],
  reached: ReadonlySet<string>,
  inside: Inside,
): readonly FoldedEffect[] {
  const isReached = (owner: string) => reached.has(owner) || reached.has(inside.get(owner) ?? owner);
  return effects.flatMap((effect): FoldedEffect[] => {
    const { standing, owners } = effect;
    if (standing.is === "undone") return owners.some(isReached) ? [effect] : [];
    const settled = standing.is === "done" || standing.is === "not-undone";
    const outOfReach = owners.filter((owner) => !isReached(owner));
    const isBeyond = outOfReach.length > 0 || owners.length === 0;
    return [settled && isBeyond ? withoutArguments(effect, outOfReach) : effect];
  });
}
