import { HoldfastError } from "../../base/errors.ts";
import { sha256 } from "../../base/hash.ts";
import { type ArchiveFile, TAR_END, tarFile } from "../../base/tar.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { SessionRow, Store } from "../../contracts/store.ts";
import { type BundleManifest, sealManifest } from "../../records/bundle.ts";
import type { SealedRecord } from "../../records/chain.ts";
import type { BlobName } from "../../records/ids.ts";
import { readBlob } from "../blobs.ts";
import { PAGE } from "../read.ts";

/** What goes into a bundle beside the records themselves. */
export interface BundleParts {
  readonly exportedAt: string;
  /** Records whose bodies hold a secret: their headers go along, with this reason. */
  readonly hidden: ReadonlySet<number>;
  /** Content that the records need to be opened again. */
  readonly content: readonly BlobName[];
  /** What was read off the records, for people. */
  readonly files: () => AsyncIterable<ArchiveFile>;
}

/** Why a body is not in a bundle. */
const HIDDEN = "it held a secret when it was exported";

/** About as much as is in memory at once. */
const CHUNK = 4 * 1024 * 1024;

/**
 * A session as one archive: content first, then its records as they are stored, then what people want to see, and a manifest
 * with a digest of each. The chain goes along, so whoever has the archive can prove it.
 */
export async function* writeBundle(store: Store, row: SessionRow, parts: BundleParts): AsyncIterable<Bytes> {
  const listed: BundleManifest["files"][number][] = [];
  const add = ({ path, bytes }: ArchiveFile): Bytes => {
    listed.push({ path, size: bytes.length, sha256: sha256(bytes) });
    return tarFile({ path, bytes });
  };
  for (const name of parts.content)
    yield add({ path: `content/${name}`, bytes: Buffer.concat(await Array.fromAsync(readBlob(store, name))) });
  let records = 0;
  for await (const chunk of chunks(sealed(store, row, parts.hidden))) {
    const path = `journal/${String(chunk.first).padStart(10, "0")}.jsonl`;
    records += chunk.lines.length;
    yield add({ path, bytes: Buffer.from(chunk.lines.join("")) });
  }
  for await (const file of parts.files()) yield add(file);
  const manifest = sealManifest({
    format: "holdfast-bundle",
    version: 1,
    session: row.id,
    exportedAt: parts.exportedAt,
    anchor: row.anchor,
    head: row.head,
    records,
    hidden: [...parts.hidden].toSorted((a, b) => a - b),
    files: listed,
  });
  yield tarFile({ path: "manifest.json", bytes: Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`) });
  yield TAR_END;
}

/** Stored records as they are, but for bodies that must not leave. */
async function* sealed(store: Store, row: SessionRow, hidden: ReadonlySet<number>): AsyncIterable<SealedRecord> {
  for (let from = row.anchor.seq + 1; from <= row.head.seq; ) {
    const { page, kept } = await store.reading(async (read) => ({
      page: await read.records(row, { from, to: row.head.seq, limit: PAGE }),
      kept: await read.session(row.id),
    }));
    // What is damaged goes along as it is; what was forgotten meanwhile would look like it.
    if (page[0]?.seq !== from && (kept === undefined || kept.anchor.seq >= from))
      throw new HoldfastError("STORE_BUSY", { session: row.id, why: "it was cut or deleted while it was exported" });
    for (const record of page)
      yield hidden.has(record.seq) && record.body !== null ? { ...record, body: null, dropped: HIDDEN } : record;
    const last = page.at(-1);
    if (last === undefined) return;
    from = last.seq + 1;
  }
}

interface Chunk {
  readonly first: number;
  readonly lines: string[];
}

async function* chunks(records: AsyncIterable<SealedRecord>): AsyncIterable<Chunk> {
  let chunk: Chunk | undefined;
  let size = 0;
  for await (const record of records) {
    const line = `${JSON.stringify(record)}\n`;
    chunk ??= { first: record.seq, lines: [] };
    chunk.lines.push(line);
    size += line.length;
    if (size < CHUNK) continue;
    yield chunk;
    chunk = undefined;
    size = 0;
  }
  if (chunk !== undefined) yield chunk;
}
