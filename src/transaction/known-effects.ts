import type { EffectEntry, EffectReport, Standing } from "./effect.ts";
import { Reliance } from "./reliance.ts";

/** An effect as the session knows it. */
export interface KnownEffect {
  entry: EffectEntry;
  /** Its place among all, in the order they were begun. */
  readonly nth: number;
  standing: Standing;
  /** Calls that rely on it, each with its outermost. It is undone when the last of them is discarded. See `Reliance`. */
  readonly owners: Map<string, string>;
  /** Its beginning: until that is written down, nothing that relies on it may be. */
  readonly begun: Promise<void>;
  /** Calls that have joined it, until that is written down. */
  readonly joining: Map<string, Promise<void>>;
}

/** The effects of a session by their ids: how far each has come, and which calls rely on it. */
export class KnownEffects {
  /** Which calls rely on what. */
  readonly reliance = new Reliance<KnownEffect>();
  readonly #byId = new Map<string, KnownEffect>();
  /** Those that are still to be undone. */
  readonly #left = new Set<KnownEffect>();
  #begun = 0;

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  get all(): Iterable<KnownEffect> {
    return this.#byId.values();
  }

  get(id: string): KnownEffect | undefined {
    return this.#byId.get(id);
  }

  /** One that has just been begun, known to nobody yet. */
  make(entry: EffectEntry, begun: Promise<void>): KnownEffect {
    this.#begun += 1;
    return { entry, nth: this.#begun, standing: { is: "open" }, owners: new Map(), begun, joining: new Map() };
  }

  /** Of one key only the newest is known: what relied on an older one relies on nothing. */
  replace(id: string, next: KnownEffect | undefined): void {
    const before = this.#byId.get(id);
    if (before !== undefined) this.reliance.hide(before);
    if (next === undefined) this.#byId.delete(id);
    else {
      this.#byId.set(id, next);
      this.reliance.show(next);
    }
  }

  stand(known: KnownEffect, standing: Standing): void {
    known.standing = standing;
    if (standing.is === "undoing") this.#left.add(known);
    else this.#left.delete(known);
  }

  /** Nobody relies on it any more: until it is undone, it is still to be. */
  letGo(known: KnownEffect): void {
    const { standing } = known;
    if (standing.is === "done") this.stand(known, { is: "undoing", result: standing.result, begun: false });
  }

  /** Those that are still to be undone, in the order they were begun. */
  get toUndo(): readonly KnownEffect[] {
    return inOrder(this.#left);
  }

  /** What any of these calls relies on, in the order they were begun. */
  owned(callIds: readonly string[]): readonly KnownEffect[] {
    return inOrder(this.reliance.of(callIds)).filter(({ standing }) => standing.is !== "undone");
  }

  /** Those calls, and every call that ran inside them and relies on something. */
  withInner(callIds: readonly string[]): readonly string[] {
    return [...new Set([...callIds, ...callIds.flatMap((callId) => [...this.reliance.inside(callId)])])];
  }
}

/** Nobody relies on it. */
export function isFree({ owners }: KnownEffect): boolean {
  return owners.size === 0;
}

export function inOrder(effects: Iterable<KnownEffect>): readonly KnownEffect[] {
  return [...effects].toSorted((a, b) => a.nth - b.nth);
}

/** What is told of an effect; nothing of one that was undone. */
export function reportOf({ tool, name, key }: EffectEntry, standing: Standing): EffectReport | undefined {
  const about = { tool, name, key };
  if (standing.is === "done") return { ...about, is: "happened" };
  if (standing.is === "not-undone") return { ...about, is: "not-undone", detail: standing.detail };
  if (standing.is === "undone") return undefined;
  if (standing.is === "undoing") return { ...about, is: "unknown", detail: "undoing it had begun" };
  return { ...about, is: "unknown", detail: "it had not ended when the call did" };
}

export function reportNow(entry: EffectEntry, standing: Standing): EffectReport {
  const { tool, name, key } = entry;
  return reportOf(entry, standing) ?? { tool, name, key, is: "undone" };
}
