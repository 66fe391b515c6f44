import { deepStrictEqual, ok, rejects, strictEqual, throws } from "node:assert/strict";
import type { ErrorCode } from "../base/error-codes.ts";
import { HoldfastError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import type { BlobStore, ByteRange, ByteSource } from "../contracts/blob-store.ts";
import { CHUNK_BYTES, nameOfBytes } from "../records/blob-name.ts";
import type { BlobName } from "../records/ids.ts";
import { type Law, type LawBook, lawsOf } from "./law.ts";

/** The blob store that the laws test. */
export interface BlobStoreUnderLaw {
  /**
   * Opens the blob store at a place: empty at first, and with the same content whenever the same place is opened again.
   */
  readonly open: (place: string) => Promise<BlobStore>;
}

/** The laws that every blob store must keep: `register(blobStoreLaws("mine", { open }), test)`. */
export function blobStoreLaws(name: string, store: BlobStoreUnderLaw): readonly Law[] {
  let places = 0;
  return lawsOf(name, BOOK, () => {
    places += 1;
    const place = `${name.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${places}`;
    return { open: () => store.open(place) };
  });
}

interface Context {
  /** The law's own place, once more with every call. */
  readonly open: () => Promise<BlobStore>;
}

/** Later than any put, as a wall time in milliseconds. */
const ALWAYS = 8.64e15;
const EDGES = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 17] as const;

const BOOK: LawBook<Context> = [
  [
    "[BLOB-1] content of every size comes back byte for byte, under the name of what it holds",
    async ({ open }) => {
      const blobs = await open();
      for (const size of EDGES) {
        const bytes = content(size, "sizes");
        const ref = await blobs.put(bytes);
        deepStrictEqual(ref, { name: nameOfBytes(bytes), size });
        ok(blobs.holds(ref.name));
        ok(bytes.equals(await gather(blobs, ref.name)), `${size} bytes came back changed`);
      }
    },
  ],
  [
    "[BLOB-1] how content is cut into pieces does not matter, nor whether its source reuses its buffer",
    async ({ open }) => {
      const blobs = await open();
      const bytes = content(2 * CHUNK_BYTES + 1, "pieces");
      for (const piece of [1_000, 65_536, CHUNK_BYTES, CHUNK_BYTES + 1, bytes.length]) {
        for (const source of [reusing(bytes, piece), reusingLater(bytes, piece)]) {
          const ref = await blobs.put(source);
          deepStrictEqual(ref, { name: nameOfBytes(bytes), size: bytes.length });
        }
      }
      ok(bytes.equals(await gather(blobs, nameOfBytes(bytes))));
      const empty = await blobs.put([new Uint8Array(0), new Uint8Array(0)]);
      deepStrictEqual(empty, { name: nameOfBytes(new Uint8Array(0)), size: 0 });
      strictEqual((await gather(blobs, empty.name)).length, 0);
    },
  ],
  [
    "[BLOB-1] changing the bytes after they were put, or those that were got, changes nothing kept",
    async ({ open }) => {
      const blobs = await open();
      const mine = content(5_000, "mine");
      const original = Buffer.from(mine);
      const { name } = await blobs.put(mine);
      mine.fill(0);
      for await (const piece of blobs.get(name)) piece.fill(1);
      ok(original.equals(await gather(blobs, name)));
    },
  ],
  [
    "[BLOB-2] the same content is kept once",
    async ({ open }) => {
      const blobs = await open();
      const bytes = content(200_000, "twice");
      const [a, b, c] = await Promise.all([blobs.put(bytes), blobs.put([bytes]), blobs.put(reusing(bytes, 999))]);
      deepStrictEqual([a, b], [c, c]);
      deepStrictEqual(await listed(blobs), [a]);
      const other = await blobs.put(content(200_000, "other"));
      deepStrictEqual(
        (await listed(blobs)).map(({ name }) => name),
        [a.name, other.name].toSorted(),
      );
    },
  ],
  [
    "[BLOB-3] a range is read exactly, also across chunk edges, and one outside the content is refused",
    async ({ open }) => {
      const blobs = await open();
      const bytes = content(3 * CHUNK_BYTES + 17, "ranges");
      const { name, size } = await blobs.put(bytes);
      const random = new SeededRandom("ranges");
      const edges = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 2 * CHUNK_BYTES, size - 1, size];
      const ranges = edges.flatMap((from) => edges.filter((to) => to >= from).map((to) => ({ from, to })));
      for (let round = 0; round < 10; round += 1) {
        const from = random.below(size);
        ranges.push({ from, to: from + random.below(size - from + 1) });
      }
      for (const range of ranges) {
        const got = await gather(blobs, name, range);
        ok(bytes.subarray(range.from, range.to).equals(got), `range ${range.from} to ${range.to}`);
      }
      const bad: readonly ByteRange[] = [
        { from: -1, to: 1 },
        { from: 2, to: 1 },
        { from: 0, to: size + 1 },
        { from: 0.5, to: 1 },
        { from: Number.NaN, to: 1 },
        { from: 0, to: Number.POSITIVE_INFINITY },
      ];
      for (const range of bad) await rejects(gather(blobs, name, range), is("BLOB_BAD_RANGE"));
    },
  ],
  [
    "[BLOB-4] content that is not there is missing, and a text that is no name is refused before anything is touched",
    async ({ open }) => {
      const blobs = await open();
      const absent = nameOfBytes(content(10, "absent"));
      strictEqual(blobs.holds(absent), false);
      strictEqual(blobs.remove(absent), 0);
      await rejects(gather(blobs, absent), is("BLOB_MISSING"));
      for (const text of BAD_NAMES) {
        const name = text as BlobName;
        await rejects(gather(blobs, name), is("BLOB_BAD_NAME"));
        throws(() => blobs.holds(name), is("BLOB_BAD_NAME"));
        throws(() => blobs.remove(name), is("BLOB_BAD_NAME"));
      }
    },
  ],
  [
    "[BLOB-5] a put that is aborted or whose source fails rejects with that reason and leaves nothing",
    async ({ open }) => {
      const blobs = await open();
      const reason = new Error("enough");
      await rejects(blobs.put(content(10, "aborted"), AbortSignal.abort(reason)), (error) => error === reason);
      await rejects(blobs.put([content(10, "aborted")], AbortSignal.abort(reason)), (error) => error === reason);
      const midway = new AbortController();
      let closed = false;
      const source = function* () {
        try {
          for (let piece = 0; piece < 5; piece += 1) {
            if (piece === 3) midway.abort(reason);
            yield content(CHUNK_BYTES, `piece-${piece}`);
          }
        } finally {
          closed = true;
        }
      };
      await rejects(blobs.put(source(), midway.signal), (error) => error === reason);
      ok(closed, "the source was not told that nobody reads it any more");
      const failure = Object.assign(new Error("the source failed"), { code: "ENOENT", syscall: "open" });
      const failing = async function* () {
        yield content(CHUNK_BYTES + 5, "failing");
        throw failure;
      };
      await rejects(blobs.put(failing()), (error) => error === failure);
      deepStrictEqual(await listed(blobs), []);
      strictEqual(await blobs.sweepTemps(ALWAYS), 0);
    },
  ],
  [
    "[BLOB-5] an abort ends a put whose source has stopped giving anything, and leaves nothing",
    async ({ open }) => {
      const blobs = await open();
      const reason = new Error("enough");
      for (const given of [0, 10, CHUNK_BYTES + 5]) {
        const stop = new AbortController();
        const stalled = Promise.withResolvers<void>();
        const source = async function* () {
          yield content(given, "stalled");
          stalled.resolve();
          await new Promise<never>(() => {});
        };
        const put = blobs.put(source(), stop.signal);
        await stalled.promise;
        stop.abort(reason);
        await rejects(put, (error) => error === reason);
      }
      deepStrictEqual(await listed(blobs), []);
      strictEqual(await blobs.sweepTemps(ALWAYS), 0);
    },
  ],
  [
    "[BLOB-5] a source of anything but bytes is refused and leaves nothing",
    async ({ open }) => {
      const blobs = await open();
      const sources = ["text", ["text"], [[1, 2]], [new Uint8Array(3), null], [3], 7, null, undefined, {}];
      for (const source of sources) {
        await rejects(blobs.put(source as unknown as ByteSource), is("BLOB_BAD_SOURCE"));
      }
      deepStrictEqual(await listed(blobs), []);
      strictEqual(await blobs.sweepTemps(ALWAYS), 0);
    },
  ],
  [
    "[BLOB-5] a get that is aborted ends with that reason",
    async ({ open }) => {
      const blobs = await open();
      const reason = new Error("enough");
      const { name } = await blobs.put(content(4 * CHUNK_BYTES, "got"));
      await rejects(gather(blobs, name, undefined, AbortSignal.abort(reason)), (error) => error === reason);
      const midway = new AbortController();
      let got = 0;
      const read = async () => {
        for await (const piece of blobs.get(name, undefined, midway.signal)) {
          got += piece.length;
          midway.abort(reason);
        }
      };
      await rejects(read(), (error) => error === reason);
      ok(got < 4 * CHUNK_BYTES);
    },
  ],
  [
    "[BLOB-6] listing names all content and its size, with a time only what was last put before it",
    async ({ open }) => {
      const blobs = await open();
      const refs = [];
      for (const size of EDGES) refs.push(await blobs.put(content(size, "listed")));
      const expected = refs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      deepStrictEqual(await listed(blobs), expected);
      deepStrictEqual(await listed(blobs, ALWAYS), expected);
      deepStrictEqual(await listed(blobs, 0), []);
    },
  ],
  [
    "[BLOB-14] a size and a time of the last put, where they are told, are those of the content, and nothing of what is not there",
    async ({ open }) => {
      const blobs = await open();
      const { name, size } = await blobs.put(content(CHUNK_BYTES + 3, "told"));
      const missing = nameOfBytes(content(5, "missing"));
      if (blobs.sizeOf !== undefined) deepStrictEqual([blobs.sizeOf(name), blobs.sizeOf(missing)], [size, undefined]);
      const put = blobs.lastPut?.(name);
      if (blobs.lastPut === undefined) return;
      ok(put !== undefined && blobs.lastPut(missing) === undefined);
      deepStrictEqual(await listed(blobs, put), []);
      deepStrictEqual(await listed(blobs, put + 1), [{ name, size }]);
    },
  ],
  [
    "[BLOB-14] clearing leftovers takes no content",
    async ({ open }) => {
      const blobs = await open();
      const bytes = content(CHUNK_BYTES + 4, "kept");
      const { name } = await blobs.put(bytes);
      strictEqual(await blobs.sweepTemps(ALWAYS), 0);
      ok(bytes.equals(await gather(blobs, name)));
    },
  ],
  [
    "[BLOB-7] removing frees the content's bytes once, and it can be put again",
    async ({ open }) => {
      const blobs = await open();
      const bytes = content(CHUNK_BYTES + 9, "removed");
      const { name } = await blobs.put(bytes);
      ok(blobs.remove(name) >= bytes.length);
      strictEqual(blobs.remove(name), 0);
      strictEqual(blobs.holds(name), false);
      deepStrictEqual(await listed(blobs), []);
      await rejects(gather(blobs, name), is("BLOB_MISSING"));
      strictEqual((await blobs.put(bytes)).name, name);
      ok(bytes.equals(await gather(blobs, name)));
    },
  ],
  [
    "[BLOB-8] content is there for whoever opens the place next",
    async ({ open }) => {
      const blobs = await open();
      const small = await blobs.put(content(20, "next"));
      const large = await blobs.put(content(2 * CHUNK_BYTES, "next"));
      const later = await open();
      deepStrictEqual(await listed(later), await listed(blobs));
      for (const { name, size } of [small, large]) {
        ok(content(size, "next").equals(await gather(later, name)));
        ok(later.holds(name));
      }
      strictEqual(await later.sweepTemps(ALWAYS), 0);
    },
  ],
  [
    "[BLOB-8] many puts and gets at once do not disturb each other",
    async ({ open }) => {
      const blobs = await open();
      const contents = Array.from({ length: 24 }, (_, index) => content(1 + index * 7_919, `many-${index % 20}`));
      const refs = await Promise.all(contents.map((bytes) => blobs.put(bytes)));
      const got = await Promise.all(refs.map(({ name }) => gather(blobs, name)));
      for (const [index, bytes] of contents.entries()) ok(bytes.equals(got[index] as Buffer));
    },
  ],
];

const SHA = "a".repeat(64);
const BAD_NAMES = [
  "",
  "x",
  SHA,
  "sha256-",
  `sha256-${SHA.slice(1)}`,
  `sha256-${SHA.toUpperCase()}`,
  `sha256-${SHA}-`,
  `sha256-${SHA}\n`,
  `sha256-../../${SHA}`,
  `md5-${SHA}`,
  "sha256-../../../../etc/passwd",
  "../../etc/passwd",
  "/etc/passwd",
  "tree-\0",
  "C:\\x-y",
];

/** The same bytes for the same size and label, in every process. */
function content(size: number, label: string): Buffer {
  const seed = Buffer.from(new SeededRandom(`${label}/${size}`).hex(Math.min(Math.max(size, 1), 4_096)), "hex");
  return Buffer.alloc(size, seed);
}

function* reusing(bytes: Buffer, piece: number): Iterable<Uint8Array> {
  const buffer = Buffer.alloc(piece);
  for (let at = 0; at < bytes.length; at += piece) {
    const length = bytes.copy(buffer, 0, at, at + piece);
    yield buffer.subarray(0, length);
    buffer.fill(0xee);
  }
}

async function* reusingLater(bytes: Buffer, piece: number): AsyncIterable<Uint8Array> {
  for (const part of reusing(bytes, piece)) yield part;
}

async function gather(blobs: BlobStore, name: BlobName, range?: ByteRange, signal?: AbortSignal): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of blobs.get(name, range, signal)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

async function listed(blobs: BlobStore, before?: number) {
  const refs = [];
  for await (const ref of blobs.list(before)) refs.push(ref);
  return refs.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function is(code: ErrorCode): (error: unknown) => boolean {
  return (error) => HoldfastError.is(error, code);
}
