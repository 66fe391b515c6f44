import type { Bytes } from "../../contracts/blob-store.ts";
import type { BlobName } from "../../records/ids.ts";
import type { BlobRef } from "../../records/kinds.ts";
import type { BlobRows, PlacedBlob } from "../tables.ts";

interface KeptBlob {
  readonly size: number;
  readonly bytes: Bytes | undefined;
  /** The change that brought it: a snapshot made before does not see it. */
  readonly since: number;
}

/** Shared with snapshots as the other tables are: what joins is newer than the change that a snapshot knows of. */
export class MemoryBlobRows implements BlobRows {
  #blobs = new Map<BlobName, KeptBlob>();
  /** By name: the records that name it, each with the change that brought it. */
  #references = new Map<BlobName, Map<string, number>>();
  /** A snapshot shares them: they are copied before any of them goes, and once only. */
  #sharedBlobs = false;
  #sharedReferences = false;
  readonly #namesAt = new Map<string, Set<BlobName>>();
  #change = 0;

  snapshot(): MemoryBlobRows {
    const copy = new MemoryBlobRows();
    copy.#blobs = this.#blobs;
    copy.#references = this.#references;
    this.#sharedBlobs = true;
    this.#sharedReferences = true;
    copy.#change = this.#change;
    this.#change += 1;
    return copy;
  }

  put(ref: BlobRef, bytes: Bytes): void {
    const known = this.#blobs.get(ref.name);
    if (known?.bytes !== undefined) return;
    if (known !== undefined) this.#ownBlobs(); // a snapshot may know it as kept outside
    this.#blobs.set(ref.name, { size: ref.size, bytes: Uint8Array.from(bytes), since: this.#change });
  }

  note(ref: BlobRef): void {
    if (!this.#blobs.has(ref.name))
      this.#blobs.set(ref.name, { size: ref.size, bytes: undefined, since: this.#change });
  }

  small(name: BlobName): Bytes | undefined {
    const blob = this.#blobs.get(name);
    return blob === undefined || blob.since > this.#change ? undefined : blob.bytes;
  }

  place(name: BlobName): "store" | "outside" | undefined {
    const blob = this.#blobs.get(name);
    if (blob === undefined) return undefined;
    return blob.bytes === undefined ? "outside" : "store";
  }

  size(name: BlobName): number | undefined {
    return this.#blobs.get(name)?.size;
  }

  isNamed(name: BlobName): boolean {
    return this.#references.has(name);
  }

  addReference(segment: number, seq: number, name: BlobName): void {
    const place = placeOf(segment, seq);
    const places = this.#references.get(name) ?? new Map<string, number>();
    if (!places.has(place)) places.set(place, this.#change);
    this.#references.set(name, places);
    this.#namesAt.set(place, (this.#namesAt.get(place) ?? new Set()).add(name));
  }

  referencesAfter(after: string, limit: number): readonly BlobRef[] {
    return [...this.#references]
      .filter(([name, places]) => name > after && [...places.values()].some((since) => since <= this.#change))
      .map(([name]) => name)
      .sort()
      .slice(0, limit)
      .map((name) => ({ name, size: this.#blobs.get(name)?.size ?? -1 }));
  }

  unreferenced(limit: number, isMeant: (blob: PlacedBlob) => boolean): readonly PlacedBlob[] {
    return this.nextUnreferenced().filter(isMeant).slice(0, limit);
  }

  nextUnreferenced(): readonly PlacedBlob[] {
    return [...this.#blobs]
      .filter(([name]) => !this.#references.has(name))
      .map(([name, { size, bytes }]) => ({ name, size, place: bytes === undefined ? "outside" : "store" }));
  }

  remove(name: BlobName): void {
    this.#ownBlobs();
    this.#blobs.delete(name);
  }

  #ownBlobs(): void {
    if (this.#sharedBlobs) this.#blobs = new Map(this.#blobs);
    this.#sharedBlobs = false;
  }

  /** What these records named. */
  dropReferences(segment: number, seqs: readonly number[]): void {
    if (this.#sharedReferences)
      this.#references = new Map([...this.#references].map(([name, places]) => [name, new Map(places)]));
    this.#sharedReferences = false;
    for (const place of seqs.map((seq) => placeOf(segment, seq))) {
      for (const name of this.#namesAt.get(place) ?? []) {
        const places = this.#references.get(name);
        places?.delete(place);
        if (places?.size === 0) this.#references.delete(name);
      }
      this.#namesAt.delete(place);
    }
  }
}

function placeOf(segment: number, seq: number): string {
  return `${segment}/${seq}`;
}
