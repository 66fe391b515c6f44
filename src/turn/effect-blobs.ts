import type { Json } from "../base/json.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { toBlobName } from "../records/ids.ts";
import { type EffectEntry, effectId } from "../transaction/effect.ts";
import {
  type EffectPlace,
  type FoldedEffect,
  isToPlace,
  largeIn,
  lost,
  type PlacedEffect,
  type Said,
} from "./kept-effects.ts";
import { jsonIn, readWhole } from "./part-blobs.ts";
import { isDamage } from "./rebuild.ts";

export interface StagedEffects {
  /** By the ids of effects: where those lie that had not lain there before. */
  readonly places: ReadonlyMap<string, PlacedEffect>;
  readonly staged: readonly NewBlob[];
  /** To be called when it is durable. */
  readonly written: () => void;
}

/**
 * What effects were done with, and what came of it, as content beside the journal. Neither ever changes, and a session that
 * does much outside would repeat all of it in every checkpoint. What is new is written as one piece of
 * content, with what is still of use of content that is mostly outdated or no larger than what is written: so pieces stay few.
 */
export class EffectBlobs {
  readonly #journal: Pick<Journal, "stageBlob" | "readBlob" | "redactor">;
  /** Content that could not be read. No later checkpoint names it: a store may refuse one that does. */
  readonly #unread = new Set<string>();
  #isAnew = false;

  constructor(journal: Pick<Journal, "stageBlob" | "readBlob" | "redactor">) {
    this.#journal = journal;
  }

  async stage(effects: readonly FoldedEffect[]): Promise<StagedEffects> {
    const leaves = this.#leaving(effects);
    const moving = effects.filter(
      (effect) => isToPlace(effect) || (effect.place !== undefined && leaves(effect.place)),
    );
    const pieces: Buffer[] = [];
    let size = 0;
    const put = (value: Json) => {
      const bytes = Buffer.from(JSON.stringify(this.#journal.redactor.json(value)));
      pieces.push(bytes);
      size += bytes.length;
      return [size - bytes.length, size] as const;
    };
    const ranges = (await this.#said(moving)).map(({ effect: { entry }, said }) => ({
      entry,
      found: said !== undefined,
      ...(said?.args === undefined ? {} : { args: put(said.args) }),
      ...(said?.result === undefined ? {} : { result: put(said.result) }),
    }));
    const staged = pieces.length === 0 ? [] : [await this.#journal.stageBlob(Buffer.concat(pieces))];
    const places = new Map<string, PlacedEffect>();
    for (const { entry, found, ...range } of ranges) {
      const { generation } = entry;
      if (!found) places.set(effectId(entry), { generation, place: undefined });
      else
        for (const { ref: content } of staged)
          places.set(effectId(entry), { generation, place: { content, ...range } });
    }
    const written = () => {
      this.#isAnew = false;
    };
    return { places, staged, written };
  }

  /** Effects with all they said, and those of them whose content is lost: they may have happened, and nobody knows how. */
  async load(
    effects: readonly FoldedEffect[],
  ): Promise<{ readonly effects: readonly FoldedEffect[]; readonly gone: readonly EffectEntry[] }> {
    const told = await this.#said(effects);
    return {
      effects: told.map(({ effect, said }) => (said === undefined ? lost(effect) : saying(effect, said))),
      gone: told.flatMap(({ effect, said }) => (said === undefined ? [effect.entry] : [])),
    };
  }

  /** The next checkpoint writes everything again, without secrets that have become known since. */
  forget(): void {
    this.#isAnew = true;
  }

  /** From the smallest on, whatever is outgrown by what is written anyway: each piece moves only when that has doubled. */
  #leaving(effects: readonly FoldedEffect[]): (place: EffectPlace) => boolean {
    if (this.#isAnew) return () => true;
    const used = new Map<string, { readonly size: number; readonly used: number }>();
    let writing = 0;
    for (const effect of effects) {
      const { place } = effect;
      const length = lengthOf(place?.args) + lengthOf(place?.result);
      if (isToPlace(effect)) writing += JSON.stringify(largeIn(effect)).length + length;
      else if (place !== undefined) {
        const { name, size } = place.content;
        used.set(name, { size, used: (used.get(name)?.used ?? 0) + length });
      }
    }
    const leaving = new Set(this.#unread);
    for (const [name, one] of [...used].toSorted(([, a], [, b]) => a.size - b.size)) {
      if (one.size > writing && 2 * one.used >= one.size) continue;
      leaving.add(name);
      writing += one.used;
    }
    return ({ content }) => leaving.has(content.name);
  }

  /** What each of them says that is no matter of a few words; nothing, where that is lost. */
  async #said(effects: readonly FoldedEffect[]): Promise<readonly Told[]> {
    const contents = new Map<string, Buffer>();
    const told: Told[] = [];
    for (const effect of effects) {
      const { place } = effect;
      const placed = place === undefined ? {} : await this.#at(place, contents);
      told.push({ effect, said: placed === undefined ? undefined : { ...largeIn(effect), ...placed } });
    }
    return told;
  }

  async #at(place: EffectPlace, contents: Map<string, Buffer>): Promise<Said | undefined> {
    const { name } = place.content;
    if (this.#unread.has(name)) return undefined;
    try {
      const bytes = contents.get(name) ?? (await readWhole(this.#journal, toBlobName(name)));
      contents.set(name, bytes);
      return saidIn(bytes, place);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#unread.add(name);
      return undefined;
    }
  }
}

interface Told {
  readonly effect: FoldedEffect;
  readonly said: Said | undefined;
}

function saidIn(bytes: Buffer, { content: { name }, args, result }: EffectPlace): Said {
  return {
    ...(args === undefined ? {} : { args: jsonIn(bytes, { name, from: args[0], to: args[1] }) }),
    ...(result === undefined ? {} : { result: jsonIn(bytes, { name, from: result[0], to: result[1] }) }),
  };
}

function saying({ entry, standing, owners }: FoldedEffect, { args = entry.args, result }: Said): FoldedEffect {
  const isTold = "result" in standing && result !== undefined;
  return { entry: { ...entry, args }, standing: isTold ? { ...standing, result } : standing, owners };
}

function lengthOf(range: EffectPlace["args"]): number {
  return range === undefined ? 0 : range[1] - range[0];
}
