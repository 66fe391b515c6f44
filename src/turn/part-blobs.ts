import { HoldfastError } from "../base/errors.ts";
import { type Json, parseJson } from "../base/json.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { AnyPart, Parts } from "../state/part.ts";
import { Root } from "../state/root.ts";
import type { KeptPart, KeptState, Span } from "./kept-state.ts";
import { introductionOf, isIntroduced } from "./kernel-parts.ts";

export interface StagedRoot {
  readonly parts: KeptState["parts"];
  /** Everything the checkpoint names. */
  readonly blobs: readonly BlobRef[];
  /** What of it is new. */
  readonly staged: readonly NewBlob[];
  /** To be called when it is durable: named before, content that was never written would fail every later checkpoint. */
  readonly written: () => void;
}

/** What is kept of a part: its value, and what it begins with, where that takes more than a few words. */
interface Piece {
  readonly key: string;
  readonly value: unknown;
  readonly lasts: boolean;
  readonly encode: () => Json;
}

/**
 * The parts of a root as content beside the journal. What has changed since the last checkpoint is written as one piece of
 * content, however many parts it is, for a sync each would cost more than all else; a part that has not changed, seen by
 * its reference, is named where it lies. Content that is mostly outdated is left: what is still of use moves on.
 */
export class PartBlobs {
  readonly #journal: Pick<Journal, "stageBlob" | "readBlob">;
  readonly #mayLack: boolean;
  #kept: ReadonlyMap<string, { readonly value: unknown; readonly span: Span }> = new Map();

  /** `mayLack`: who only looks needs no content of files, and a session whose files stayed elsewhere can be looked at. */
  constructor(journal: Pick<Journal, "stageBlob" | "readBlob">, { mayLack = false } = {}) {
    this.#journal = journal;
    this.#mayLack = mayLack;
  }

  async stage(parts: Parts, root: Root): Promise<StagedRoot> {
    const all = [...parts.values()].flatMap((part) => piecesOf(part, root));
    const stay = this.#staying(all);
    const spans = new Map(stay);
    const staged: NewBlob[] = [];
    // Each in content of its own: beside values that change, what never does would move on with every second checkpoint.
    for (const lasts of [false, true]) {
      const pieces = all.filter((piece) => piece.lasts === lasts && !stay.has(piece.key));
      if (pieces.length === 0) continue;
      const places: Place[] = [];
      const blob = await this.#journal.stageBlob(encodedOneByOne(pieces, places));
      staged.push(blob);
      const { name, size } = blob.ref;
      for (const { key, from, to } of places) spans.set(key, { name, from, to, size });
    }
    const written = () => {
      this.#kept = new Map(all.map(({ key, value }) => [key, { value, span: spans.get(key) as Span }]));
    };
    const blobs = new Map([...spans.values()].map(({ name, size }) => [name as BlobName, { name, size } as BlobRef]));
    for (const [name, part] of parts)
      for (const { name: content, bytes } of part.contents?.of(root.get(name) as never) ?? [])
        blobs.set(content, { name: content, size: bytes.length });
    const named = Object.fromEntries([...parts].map(([name, part]) => [name, keptPart(part, spans)]));
    return { parts: named, blobs: [...blobs.values()], staged, written };
  }

  /** The root that a checkpoint kept. Parts it does not name are at their initial value. */
  async load(parts: Parts, kept: KeptState["parts"]): Promise<Root> {
    const read = new Map<string, Uint8Array>();
    const values: [string, unknown][] = [];
    for (const [name, part] of parts) {
      const place = Object.hasOwn(kept, name) ? kept[name] : undefined;
      if (place === undefined) {
        values.push([name, part.initial]);
        continue;
      }
      const bytes = read.get(place.name) ?? (await readWhole(this.#journal, toBlobName(place.name)));
      read.set(place.name, bytes);
      values.push([name, part.decode(jsonIn(bytes, place))]);
    }
    return Root.of(values);
  }

  /** The same for whoever goes on from there: what does not change lies where it is. */
  async resume(parts: Parts, kept: KeptState["parts"]): Promise<Root> {
    const root = await this.load(parts, kept);
    this.#kept = new Map(
      Object.entries(kept).flatMap(([key, { name, from, to, size }]) =>
        size === undefined ? [] : [[key, { value: root.get(key), span: { name, from, to, size } }]],
      ),
    );
    return root;
  }

  /** What a checkpoint tells of a part to a process that does not know it. */
  async introduced({ policy, initial, initialAt }: KeptPart): Promise<{ readonly policy: string; initial?: Json }> {
    if (initialAt !== undefined)
      return { policy, initial: jsonIn(await readWhole(this.#journal, toBlobName(initialAt.name)), initialAt) };
    return initial === undefined ? { policy } : { policy, initial };
  }

  /** Fetches the content that parts name and do not hold yet. */
  async fill(parts: Parts, root: Root): Promise<Root> {
    const filled: [string, unknown][] = [];
    for (const [name, part] of parts) {
      const missing = part.contents?.missing(root.get(name) as never) ?? [];
      if (part.contents === undefined || missing.length === 0) continue;
      const found = await this.#contents(missing);
      if (found === undefined) continue;
      filled.push([name, part.contents.fill(root.get(name) as never, (content) => found.get(content))]);
    }
    return root.with(filled);
  }

  async #contents(names: readonly BlobName[]): Promise<ReadonlyMap<BlobName, Uint8Array> | undefined> {
    const found = new Map<BlobName, Uint8Array>();
    try {
      for (const name of new Set(names)) found.set(name, Uint8Array.from(await readWhole(this.#journal, name)));
    } catch (error) {
      if (!this.#mayLack || !LOST.some((code) => HoldfastError.is(error, code))) throw error;
      return undefined;
    }
    return found;
  }

  /** The next checkpoint writes everything again, and leaves whatever else its content held. */
  forget(): void {
    this.#kept = new Map();
  }

  /** Pieces that have not changed, in content of which at least half is still of use. */
  #staying(pieces: readonly Piece[]): ReadonlyMap<string, Span> {
    const same = pieces.flatMap(({ key, value }): [string, Span][] => {
      const kept = this.#kept.get(key);
      return kept === undefined || kept.value !== value ? [] : [[key, kept.span]];
    });
    const used = new Map<string, number>();
    for (const [, { name, from, to }] of same) used.set(name, (used.get(name) ?? 0) + to - from);
    return new Map(same.filter(([, { name, size }]) => 2 * (used.get(name) ?? 0) >= size));
  }
}

const LOST = ["BLOB_MISSING", "BLOB_CORRUPT"] as const;

function piecesOf(part: AnyPart, root: Root): readonly Piece[] {
  const { name, initial } = part;
  const value = root.get(name);
  const own = { key: name, value, lasts: false, encode: () => part.encode(value as never) };
  if (!isIntroduced(part) || !isLong(initial)) return [own];
  return [own, { key: initialKey(name), value: initial, lasts: true, encode: () => part.encode(initial as never) }];
}

interface Place {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

/** Only as they are asked for: written down in one go, a large state would hold up everything else in the process. */
function* encodedOneByOne(pieces: readonly Piece[], places: Place[]): Iterable<Bytes> {
  let from = 0;
  for (const { key, encode } of pieces) {
    const bytes = Buffer.from(JSON.stringify(encode()));
    const to = from + bytes.length;
    places.push({ key, from, to });
    from = to;
    yield bytes;
  }
}

/** No part is called so: names have no line breaks. */
function initialKey(name: string): string {
  return `${name}\ninitial`;
}

function keptPart(part: AnyPart, spans: ReadonlyMap<string, Span>): KeptPart {
  const { name, policy } = part;
  const span = spans.get(name) as Span;
  const initialAt = spans.get(initialKey(name));
  if (initialAt !== undefined) return { ...span, policy, initialAt };
  const introduction = introductionOf(part);
  return { ...span, policy, ...(introduction === undefined ? {} : { initial: introduction.initial }) };
}

/** Found out once: it is as long at every checkpoint. */
const LONG = new WeakMap<object, boolean>();
const FEW_WORDS = 256;

function isLong(initial: unknown): boolean {
  if (typeof initial !== "object" || initial === null) return typeof initial === "string" && initial.length > FEW_WORDS;
  const known = LONG.get(initial) ?? JSON.stringify(initial).length > FEW_WORDS;
  LONG.set(initial, known);
  return known;
}

export async function readWhole(journal: Pick<Journal, "readBlob">, name: BlobName): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(journal.readBlob(name)));
}

export function jsonIn(bytes: Uint8Array, { name, from, to }: Pick<Span, "name" | "from" | "to">): Json {
  const parsed = parseJson(Buffer.from(bytes.subarray(from, to)).toString("utf8"), {
    depth: 128,
    characters: Number.MAX_SAFE_INTEGER,
  });
  if (!parsed.ok) throw new HoldfastError("BLOB_CORRUPT", { name, detail: parsed.error.detail });
  return parsed.value;
}
