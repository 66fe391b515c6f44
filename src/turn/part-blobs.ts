import { HoldfastError } from "../base/errors.ts";
import { type Json, parseJson } from "../base/json.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { Parts } from "../state/part.ts";
import { Root } from "../state/root.ts";
import type { KeptState } from "./fold.ts";
import { introductionOf } from "./kernel-parts.ts";

export interface StagedRoot {
  readonly parts: KeptState["parts"];
  /** Everything the checkpoint names. */
  readonly blobs: readonly BlobRef[];
  /** What of it is new. */
  readonly staged: readonly NewBlob[];
  /** To be called when it is durable: named before, content that was never written would fail every later checkpoint. */
  readonly written: () => void;
}

/** Where a part's value lies: a piece of the content that one checkpoint wrote, together with whatever else had changed. */
type Place = KeptState["parts"][string] & { readonly size: number };

/**
 * The parts of a root as content beside the journal. What has changed since the last checkpoint is written as one piece of
 * content, however many parts it is, for a sync each would cost more than all else; a part that has not changed, seen by
 * its reference, is named where it lies. Content that is mostly outdated is left: what is still of use moves on.
 */
export class PartBlobs {
  readonly #journal: Pick<Journal, "stageBlob" | "readBlob">;
  #kept: ReadonlyMap<string, { readonly value: unknown; readonly place: Place }> = new Map();

  constructor(journal: Pick<Journal, "stageBlob" | "readBlob">) {
    this.#journal = journal;
  }

  async stage(parts: Parts, root: Root): Promise<StagedRoot> {
    const stay = this.#staying(parts, root);
    const pieces = [...parts.values()]
      .filter(({ name }) => !stay.has(name))
      .map((part) => ({ part, bytes: Buffer.from(JSON.stringify(part.encode(root.get(part.name) as never))) }));
    const staged = pieces.length === 0 ? [] : [await this.#journal.stageBlob(Buffer.concat(pieces.map(bytesOf)))];
    const places = new Map(stay);
    let from = 0;
    for (const { ref } of staged)
      for (const { part, bytes } of pieces) {
        const to = from + bytes.length;
        const introduction = introductionOf(part);
        const told = introduction === undefined ? {} : { initial: introduction.initial };
        places.set(part.name, { name: ref.name, policy: part.policy, from, to, size: ref.size, ...told });
        from = to;
      }
    const written = () => {
      this.#kept = new Map([...places].map(([name, place]) => [name, { value: root.get(name), place }]));
    };
    const blobs = new Map([...places.values()].map(({ name, size }) => [name as BlobName, { name, size } as BlobRef]));
    for (const [name, part] of parts)
      for (const { name: content, bytes } of part.contents?.of(root.get(name) as never) ?? [])
        blobs.set(content, { name: content, size: bytes.length });
    const named = Object.fromEntries([...parts.keys()].map((name) => [name, places.get(name) as Place]));
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
      Object.entries(kept).flatMap(([name, place]) =>
        place.size === undefined ? [] : [[name, { value: root.get(name), place: place as Place }]],
      ),
    );
    return root;
  }

  /** Fetches the content that parts name and do not hold yet. */
  async fill(parts: Parts, root: Root): Promise<Root> {
    const filled: [string, unknown][] = [];
    for (const [name, part] of parts) {
      const missing = part.contents?.missing(root.get(name) as never) ?? [];
      if (part.contents === undefined || missing.length === 0) continue;
      const found = new Map<BlobName, Uint8Array>();
      for (const content of new Set(missing))
        found.set(content, Uint8Array.from(await readWhole(this.#journal, content)));
      filled.push([name, part.contents.fill(root.get(name) as never, (content) => found.get(content))]);
    }
    return root.with(filled);
  }

  /** The next checkpoint writes everything again, and leaves whatever else its content held. */
  forget(): void {
    this.#kept = new Map();
  }

  /** Parts that have not changed, in content of which at least half is still of use. */
  #staying(parts: Parts, root: Root): ReadonlyMap<string, Place> {
    const same = [...this.#kept].filter(([name, { value }]) => parts.has(name) && root.get(name) === value);
    const used = new Map<string, number>();
    for (const [, { place }] of same) used.set(place.name, (used.get(place.name) ?? 0) + place.to - place.from);
    const worthIt = ({ name, size }: Place) => 2 * (used.get(name) ?? 0) >= size;
    return new Map(same.flatMap(([name, { place }]) => (worthIt(place) ? [[name, place]] : [])));
  }
}

export async function readWhole(journal: Pick<Journal, "readBlob">, name: BlobName): Promise<Buffer> {
  const pieces: Bytes[] = [];
  for await (const piece of journal.readBlob(name)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function bytesOf({ bytes }: { readonly bytes: Buffer }): Buffer {
  return bytes;
}

export function jsonIn(bytes: Uint8Array, { name, from, to }: Pick<Place, "name" | "from" | "to">): Json {
  const parsed = parseJson(Buffer.from(bytes.subarray(from, to)).toString("utf8"), {
    depth: 128,
    characters: Number.MAX_SAFE_INTEGER,
  });
  if (!parsed.ok) throw new HoldfastError("BLOB_CORRUPT", { name, detail: parsed.error.detail });
  return parsed.value;
}
