import { HoldfastError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import type { Bytes } from "../contracts/blob-store.ts";
import type { NewBlob } from "../contracts/store.ts";
import type { Journal } from "../journal/journal.ts";
import { type BlobName, toBlobName } from "../records/ids.ts";
import type { BlobRef } from "../records/kinds.ts";
import type { AnyPart, Parts } from "../state/part.ts";
import { Root } from "../state/root.ts";
import type { KeptState } from "./fold.ts";
import { introductionOf } from "./kernel-parts.ts";

export interface StagedRoot {
  readonly parts: KeptState["parts"];
  /** Everything the checkpoint names. */
  readonly blobs: readonly BlobRef[];
  /** What of it is new. */
  readonly staged: readonly NewBlob[];
}

/**
 * The parts of a root as content beside the journal. A part that has not changed since the last checkpoint is named again
 * and not written again; whether it has is seen by its reference.
 */
export class PartBlobs {
  readonly #journal: Pick<Journal, "stageBlob" | "readBlob">;
  readonly #kept = new Map<string, { readonly value: unknown; readonly ref: BlobRef }>();

  constructor(journal: Pick<Journal, "stageBlob" | "readBlob">) {
    this.#journal = journal;
  }

  async stage(parts: Parts, root: Root): Promise<StagedRoot> {
    const named: Record<string, KeptState["parts"][string]> = {};
    const blobs = new Map<BlobName, BlobRef>();
    const staged: NewBlob[] = [];
    for (const [name, part] of parts) {
      const value = root.get(name);
      const kept = this.#kept.get(name);
      const ref = kept !== undefined && kept.value === value ? kept.ref : await this.#write(part, value, staged);
      this.#kept.set(name, { value, ref });
      const introduction = introductionOf(part);
      named[name] = {
        name: ref.name,
        policy: part.policy,
        ...(introduction === undefined ? {} : { initial: introduction.initial }),
      };
      blobs.set(ref.name, ref);
      for (const { name: content, bytes } of part.contents?.of(value as never) ?? [])
        blobs.set(content, { name: content, size: bytes.length });
    }
    return { parts: named, blobs: [...blobs.values()], staged };
  }

  /** The root that a checkpoint kept. Parts it does not name are at their initial value. */
  async load(parts: Parts, kept: KeptState["parts"]): Promise<Root> {
    const values: [string, unknown][] = [];
    for (const [name, part] of parts) {
      const place = Object.hasOwn(kept, name) ? kept[name] : undefined;
      const value = place === undefined ? part.initial : part.decode(await this.#readJson(toBlobName(place.name)));
      values.push([name, value]);
    }
    return Root.of(values);
  }

  /** Fetches the content that parts name and do not hold yet. */
  async fill(parts: Parts, root: Root): Promise<Root> {
    const filled: [string, unknown][] = [];
    for (const [name, part] of parts) {
      const missing = part.contents?.missing(root.get(name) as never) ?? [];
      if (part.contents === undefined || missing.length === 0) continue;
      const found = new Map<BlobName, Uint8Array>();
      for (const content of new Set(missing)) found.set(content, await this.#read(content));
      filled.push([name, part.contents.fill(root.get(name) as never, (content) => found.get(content))]);
    }
    return root.with(filled);
  }

  async #write(part: AnyPart, value: unknown, staged: NewBlob[]): Promise<BlobRef> {
    const blob = await this.#journal.stageBlob(Buffer.from(JSON.stringify(part.encode(value as never))));
    staged.push(blob);
    return blob.ref;
  }

  async #readJson(name: BlobName) {
    const parsed = parseJson(Buffer.from(await this.#read(name)).toString("utf8"), {
      depth: 128,
      characters: Number.MAX_SAFE_INTEGER,
    });
    if (!parsed.ok) throw new HoldfastError("BLOB_CORRUPT", { name, detail: parsed.error.detail });
    return parsed.value;
  }

  async #read(name: BlobName): Promise<Uint8Array> {
    const pieces: Bytes[] = [];
    for await (const piece of this.#journal.readBlob(name)) pieces.push(piece);
    return Uint8Array.from(Buffer.concat(pieces));
  }
}
