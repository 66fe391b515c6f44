import { HoldfastError } from "../../base/errors.ts";
import { isFields } from "../../base/fields.ts";
import { sha256 } from "../../base/hash.ts";
import { parseJson } from "../../base/json.ts";
import { badOption, FUNCTION } from "../../base/options.ts";
import { type ArchiveFile, readTar } from "../../base/tar.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { type BundleManifest, BUNDLE_VERSION, isSealed, MANIFEST_SHAPE } from "../../records/bundle.ts";
import { flawOf, type Link, type SealedRecord } from "../../records/chain.ts";

/** Returns the bytes of a bundle from the beginning. Called each time the bundle is read, which is more than once. */
export type BundleSource = () => AsyncIterable<Bytes> | Iterable<Bytes>;

/** What checking a bundle found. */
export interface BundleReport {
  readonly ok: boolean;
  readonly session: string;
  readonly exportedAt: string;
  readonly records: number;
  /** Records whose bodies were left out because they held a secret. */
  readonly hidden: number;
  readonly files: number;
  readonly faults: readonly string[];
}

/**
 * Checks a bundle: every file is what the manifest says, none is missing or extra, and the chain of records is
 * unbroken. Faults are in the report; it throws BUNDLE_DAMAGED only when it is not a bundle at all.
 */
export async function verifyBundle(source: BundleSource): Promise<BundleReport> {
  refuseNoSource(source);
  const chain = new ChainCheck();
  const found = new Map<string, { readonly size: number; readonly sha256: string }>();
  const faults: string[] = [];
  let manifest: BundleManifest | undefined;
  try {
    for await (const file of readTar(source())) {
      if (manifest !== undefined) faults.push(`${file.path} stands behind the manifest`);
      if (file.path === "manifest.json") manifest = manifestIn(file.bytes);
      else if (found.has(file.path)) faults.push(`${file.path} is there twice`);
      else found.set(file.path, { size: file.bytes.length, sha256: sha256(file.bytes) });
      faults.push(...faultsIn(file));
      for (const record of recordsIn(file)) chain.take(record);
    }
  } catch (error) {
    // With a manifest the rest can be told all the same; without one nobody knows what this is.
    if (manifest === undefined || !HoldfastError.is(error, "BUNDLE_DAMAGED")) throw error;
    faults.push(error.message);
  }
  if (manifest === undefined) throw new HoldfastError("BUNDLE_DAMAGED", { detail: "it has no manifest" });
  faults.push(...faultsAgainst(manifest, found), ...chain.faultsAgainst(manifest));
  const { session, exportedAt, hidden } = manifest;
  const { size: files } = found;
  return { ok: faults.length === 0, session, exportedAt, records: chain.count, hidden: hidden.length, files, faults };
}

/** Bytes can be read once; a bundle is read twice. */
export function refuseNoSource(source: BundleSource): void {
  if (!FUNCTION.fits(source)) throw badOption("source", source, "a function that returns the bytes");
}

function faultsAgainst(manifest: BundleManifest, found: ReadonlyMap<string, object>): readonly string[] {
  const faults = isSealed(manifest) ? [] : ["the manifest was changed"];
  const named = new Set(manifest.files.map(({ path }) => path));
  for (const { path, size, sha256: digest } of manifest.files) {
    const file = found.get(path) as { readonly size: number; readonly sha256: string } | undefined;
    if (file === undefined) faults.push(`${path} is missing`);
    else if (file.size !== size || file.sha256 !== digest) faults.push(`${path} was changed`);
  }
  for (const path of found.keys()) if (!named.has(path)) faults.push(`${path} is not in the manifest`);
  return faults;
}

/** Content must be what its name says, whatever the manifest says. */
function faultsIn({ path, bytes }: ArchiveFile): readonly string[] {
  if (!path.startsWith("content/") || nameOfBytes(bytes) === path.slice("content/".length)) return [];
  return [`${path} is not what its name says`];
}

function manifestIn(bytes: Uint8Array): BundleManifest {
  const parsed = parseJson(Buffer.from(bytes).toString("utf8"));
  const fault = parsed.ok ? MANIFEST_SHAPE.fault(parsed.value, "manifest") : parsed.error.detail;
  if (!parsed.ok || fault !== undefined) throw new HoldfastError("BUNDLE_DAMAGED", { detail: fault ?? "" });
  const manifest = parsed.value as unknown as BundleManifest;
  if (manifest.version !== BUNDLE_VERSION)
    throw new HoldfastError("BUNDLE_TOO_NEW", { version: String(manifest.version), known: BUNDLE_VERSION });
  return manifest;
}

/** The records of one file; none when it holds others. */
export function* recordsIn({ path, bytes }: ArchiveFile): Iterable<SealedRecord> {
  if (!path.startsWith("journal/")) return;
  for (const line of Buffer.from(bytes).toString("utf8").split("\n")) {
    if (line === "") continue;
    const parsed = parseJson(line, { depth: 8, characters: Number.MAX_SAFE_INTEGER });
    if (!parsed.ok) throw new HoldfastError("BUNDLE_DAMAGED", { detail: `${path}: ${parsed.error.detail}` });
    if (!isFields(parsed.value)) throw new HoldfastError("BUNDLE_DAMAGED", { detail: `${path}: no record` });
    yield parsed.value as unknown as SealedRecord;
  }
}

/** Whether records hang on each other, told as they come. */
class ChainCheck {
  count = 0;
  readonly #faults: string[] = [];
  #first: Link | undefined;
  #last: Link | undefined;

  take(record: SealedRecord): void {
    const { seq, hash, prev } = record;
    this.count += 1;
    const flaw = flawOf(record);
    if (flaw !== undefined) this.#faults.push(`record ${seq} ${flaw}`);
    if (this.#last !== undefined && seq !== this.#last.seq + 1)
      this.#faults.push(`records between ${this.#last.seq} and ${seq} are missing`);
    else if (this.#last !== undefined && prev !== this.#last.hash)
      this.#faults.push(`record ${seq} does not hang on the record before it`);
    this.#first ??= { seq: seq - 1, hash: prev };
    this.#last = { seq, hash };
  }

  faultsAgainst({ anchor, head, records }: BundleManifest): readonly string[] {
    const faults = [...this.#faults];
    const { seq: begin, hash: beginHash } = this.#first ?? anchor;
    if (begin !== anchor.seq || beginHash !== anchor.hash) faults.push("the records do not begin where they should");
    const { seq: end, hash: endHash } = this.#last ?? anchor;
    if (end !== head.seq || endHash !== head.hash) faults.push("the records do not end where they should");
    if (this.count !== records) faults.push(`there are ${this.count} records, and should be ${records}`);
    return faults;
  }
}
