import { SharedMap } from "../base/shared-map.ts";
import { effectId } from "../transaction/effect.ts";
import type { FoldedEffect } from "./kept-effects.ts";

type ById = ReadonlyMap<string, FoldedEffect>;
type IdsByOwner = ReadonlyMap<string, readonly string[]>;

/**
 * Effects by their ids, in the order they were begun. A value: whoever holds one sees what it held then. Those that the
 * newest checkpoint told of are shared by all that follow it, and only what has changed since is copied: a session that has
 * done thousands of things outside would otherwise copy them all for the next one.
 */
export class FoldedEffects {
  readonly #kept: ById;
  readonly #keptIds: IdsByOwner;
  readonly #since: SharedMap<string, FoldedEffect>;

  private constructor(kept: ById, keptIds: IdsByOwner, since: SharedMap<string, FoldedEffect>) {
    this.#kept = kept;
    this.#keptIds = keptIds;
    this.#since = since;
  }

  static of(effects: readonly FoldedEffect[]): FoldedEffects {
    const kept = new Map(effects.map((effect) => [effectId(effect.entry), effect]));
    const ids = new Map<string, string[]>();
    for (const [id, { owners }] of kept)
      for (const owner of owners) {
        const owned = ids.get(owner);
        if (owned === undefined) ids.set(owner, [id]);
        else owned.push(id);
      }
    return new FoldedEffects(kept, ids, SharedMap.of(new Map()));
  }

  get(id: string): FoldedEffect | undefined {
    return this.#since.get(id) ?? this.#kept.get(id);
  }

  values(): readonly FoldedEffect[] {
    const kept = [...this.#kept].map(([id, effect]) => this.#since.get(id) ?? effect);
    const begunSince = [...this.#since].flatMap(([id, effect]) => (this.#kept.has(id) ? [] : [effect]));
    return [...kept, ...begunSince];
  }

  with(changes: readonly FoldedEffect[]): FoldedEffects {
    if (changes.length === 0) return this;
    const changed = changes.map((effect) => [effectId(effect.entry), effect] as const);
    return new FoldedEffects(this.#kept, this.#keptIds, this.#since.with(changed));
  }

  /** What any of these calls relies on. */
  ownedBy(owners: ReadonlySet<string>): readonly FoldedEffect[] {
    const ids = new Set([...owners].flatMap((owner) => this.#keptIds.get(owner) ?? []));
    for (const id of this.#since.keys()) ids.add(id);
    return [...ids].flatMap((id) => {
      const effect = this.get(id);
      return effect?.owners.some((owner) => owners.has(owner)) === true ? [effect] : [];
    });
  }
}
