import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryDisk } from "../../test/support/stores.ts";
import { opened } from "../../test/support/durable.ts";
import { anyPartOf, defineSlice } from "../state/slice.ts";
import { Root } from "../state/root.ts";
import type { ByteSource } from "../contracts/blob-store.ts";
import type { Journal } from "../journal/journal.ts";
import type { AnyPart, Parts } from "../state/part.ts";
import { PartBlobs } from "./part-blobs.ts";

const NAMES = ["a", "b", "c", "d"] as const;
const slices = NAMES.map((name) => defineSlice(name, { initial: [] as readonly string[], on: {} }));
const parts: Parts = new Map(slices.map((slice) => [anyPartOf(slice).name, anyPartOf(slice)]));
const valueOf = (letter: string, size: number): readonly string[] => [letter.repeat(size)];

/** What a checkpoint that went through leaves. */
async function kept(blobs: PartBlobs, root: Root) {
  const staged = await blobs.stage(parts, root);
  staged.written();
  return staged;
}

/** Content as a store would keep it, and everything that was ever written. */
async function ground() {
  const { session } = await opened(new MemoryDisk(), { slices });
  const written: number[] = [];
  const journal = {
    stageBlob: async (source: ByteSource) => {
      const blob = await session.journal.stageBlob(source);
      written.push(blob.ref.size);
      await session.append({ kind: "user-said", text: "", blobs: [blob.ref] }, { staged: [blob] });
      return blob;
    },
    readBlob: session.journal.readBlob.bind(session.journal),
  };
  return { journal: journal as never, written };
}

test("[TURN-5] what has changed is one piece of content, however many parts it is, and what has not is named", async () => {
  const { journal, written } = await ground();
  const blobs = new PartBlobs(journal);
  const first = Root.of(NAMES.map((name) => [name, valueOf(name, 100)]));
  const { blobs: named } = await kept(blobs, first);
  expect([written.length, named.length]).toEqual([1, 1]);
  const second = first.with([["a", valueOf("A", 100)]]);
  const then = await kept(blobs, second);
  expect(written).toHaveLength(2);
  expect(written[1]).toBeLessThan(120);
  expect(then.blobs).toHaveLength(2);
  expect((await kept(blobs, second)).staged).toEqual([]);
});

test("[TURN-93] a part is encoded when those before it have been taken in", async () => {
  const { journal } = await ground();
  const told: string[] = [];
  const telling: Parts = new Map(
    [...parts].map(([name, part]) => [
      name,
      Object.assign(Object.create(part) as AnyPart, {
        encode: (value: never) => {
          if (value !== part.initial) told.push(name);
          return part.encode(value);
        },
      }),
    ]),
  );
  const { stageBlob, ...rest } = journal as Pick<Journal, "stageBlob" | "readBlob">;
  const taking = async function* (source: Iterable<Uint8Array>) {
    for (const piece of source) {
      told.push("taken in");
      yield piece;
    }
  };
  const slow = { ...rest, stageBlob: (source: Iterable<Uint8Array>) => stageBlob(taking(source)) };
  await new PartBlobs(slow as never).stage(telling, Root.of(NAMES.map((name) => [name, valueOf(name, 100)])));
  expect(told).toEqual(NAMES.flatMap((name) => [name, "taken in"]));
});

test("[TURN-5] what a checkpoint that failed would have named is written again by the next", async () => {
  const { journal, written } = await ground();
  const blobs = new PartBlobs(journal);
  const root = Root.of(NAMES.map((name) => [name, valueOf(name, 100)]));
  await blobs.stage(parts, root);
  const { staged } = await kept(blobs, root);
  expect([staged.length, written[0]]).toEqual([1, written[1]]);
});

test("[TURN-5] a fresh process names what it found and writes only what it changes", async () => {
  const { journal, written } = await ground();
  const first = Root.of(NAMES.map((name) => [name, valueOf(name, 100)]));
  const before = await kept(new PartBlobs(journal), first);
  const fresh = new PartBlobs(journal);
  const found = await fresh.resume(parts, before.parts);
  const { staged, blobs } = await kept(fresh, found.with([["d", valueOf("D", 10)]]));
  expect(written[1]).toBeLessThan(20);
  expect([staged.length, blobs.length]).toEqual([1, 2]);
});

test("[TURN-5] content of which less than half is of use is left, and what is moves on", async () => {
  const { journal, written } = await ground();
  const blobs = new PartBlobs(journal);
  let root = Root.of(NAMES.map((name) => [name, valueOf(name, 100)]));
  await kept(blobs, root);
  for (const name of ["a", "b"] as const) {
    root = root.with([[name, valueOf(name.toUpperCase(), 100)]]);
    expect((await kept(blobs, root)).blobs.length).toBeGreaterThan(1);
  }
  root = root.with([["c", valueOf("y", 100)]]);
  const { blobs: named, parts: places } = await kept(blobs, root);
  expect(places["d"]?.name).toBe(places["c"]?.name); // moved on, though it never changed
  expect(named).toHaveLength(3);
  expect(written[3]).toBeGreaterThan(200);
});

test("[TURN-5] through any changes and restarts, what is loaded is what was kept, and at most half of it is waste", async () => {
  const step = fc.record({
    changes: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.integer({ min: 0, max: 300 })), { maxLength: 4 }),
    restart: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const { journal } = await ground();
      let blobs = new PartBlobs(journal);
      let root = Root.of(NAMES.map((name) => [name, valueOf(name, 50)]));
      for (const [at, { changes, restart }] of steps.entries()) {
        root = root.with(changes.map(([name, size]) => [name, valueOf(String(at % 10), size)]));
        const { parts: places, blobs: named } = await kept(blobs, root);
        if (restart) blobs = new PartBlobs(journal);
        const found = restart ? await blobs.resume(parts, places) : await blobs.load(parts, places);
        expect(NAMES.map((name) => found.get(name))).toEqual(NAMES.map((name) => root.get(name)));
        if (restart) root = found;
        const used = Object.values(places).reduce((sum, { from, to }) => sum + to - from, 0);
        const lying = named.reduce((sum, { size }) => sum + size, 0);
        expect(lying).toBeLessThanOrEqual(2 * used);
      }
    }),
    { numRuns: 60 },
  );
});
