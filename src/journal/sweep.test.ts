import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../test/support/places.ts";
import {
  collect,
  fileBlobs,
  memoryBlobs,
  memoryDeps,
  memoryStore,
  openSqlite,
  said,
} from "../../test/support/stores.ts";
import { FixedClock, SystemClock } from "../base/clock.ts";
import { SystemRandom } from "../base/random.ts";
import type { BlobStore } from "../contracts/blob-store.ts";
import { openJournal } from "./open.ts";
import { dropBodies, retain } from "./retention.ts";
import { sweep, sweepForgotten } from "./sweep.ts";
import { verify } from "./verify.ts";

const folder = scratchFolder();
let places = 0;
const place = () => {
  places += 1;
  return join(folder, `${places}`);
};
const LARGE = Buffer.alloc(100_000, "large");

async function sqliteDeps(blobs?: BlobStore) {
  const store = await openSqlite(join(place(), "store.db"), blobs === undefined ? {} : { blobs });
  return { store, clock: new SystemClock(), random: new SystemRandom() };
}

test("[JOURNAL-17] content that no record names yet is left alone for a while", async () => {
  const clock = new FixedClock();
  const deps = memoryDeps(undefined, clock);
  const journal = await openJournal(deps, "s");
  const staged = await journal.stageBlob(LARGE);
  clock.advance(1_000);
  expect(await sweep(deps, { graceMs: 1_000 })).toMatchObject({ blobs: 0, bytes: 0 });
  await journal.append({ ...said("named"), blobs: [staged.ref] }, { staged: [staged] });
  clock.advance(10_000_000);
  expect(await sweep(deps)).toMatchObject({ blobs: 0 });
  expect(Buffer.concat(await collect(journal.readBlob(staged.ref.name))).equals(LARGE)).toBe(true);
});

test.each(["memory", "sqlite"])(
  "[JOURNAL-17] content that was put earlier and is only named by an append stays, in %s",
  async (kind) => {
    const deps = kind === "memory" ? memoryDeps() : await sqliteDeps();
    const journal = await openJournal(deps, "s");
    const { ref } = await journal.stageBlob(LARGE);
    await journal.append({ ...said("named"), blobs: [ref] });
    await sweep(deps, { graceMs: 0 });
    expect(Buffer.concat(await collect(journal.readBlob(ref.name))).equals(LARGE)).toBe(true);
    expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 1 } });
    await deps.store.close();
  },
);

test("[JOURNAL-17] a writer that slept while its content was swept is told, puts it again and goes on", async () => {
  const deps = await sqliteDeps();
  const journal = await openJournal(deps, "s");
  const staged = await journal.stageBlob(LARGE);
  const later = { ...deps, clock: new FixedClock(Date.now() + 3_600_001) };
  expect(await sweep(later)).toMatchObject({ blobs: 1, bytes: LARGE.length });
  const draft = { ...said("late"), blobs: [staged.ref] };
  await expect(journal.append(draft, { staged: [staged] })).rejects.toMatchObject({
    code: "BLOB_MISSING",
    details: { names: [staged.ref.name] },
  });
  await journal.append(draft, { staged: [await journal.stageBlob(LARGE)] });
  expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 1 } });
  await deps.store.close();
});

/** Content that was put long ago and named, and that nothing names any more. */
async function forgotten(deps: Awaited<ReturnType<typeof sqliteDeps>>, age: (name: string) => void) {
  const journal = await openJournal(deps, "s");
  const staged = await journal.stageBlob(LARGE);
  await journal.append({ ...said("1"), blobs: [staged.ref] }, { staged: [staged] });
  await journal.append({ kind: "checkpoint-kept", openCalls: [] });
  await retain(deps, journal, { records: 1 });
  age(staged.ref.name);
  return { journal, ref: staged.ref };
}

test.each(["memory", "files"])(
  "[JOURNAL-17] content of %s that nothing names any more and that a writer has put again is left to it for a while",
  async (kind) => {
    const clock = new FixedClock(Date.now());
    const at = place();
    const deps = {
      ...(await sqliteDeps(kind === "memory" ? memoryBlobs(undefined, clock) : fileBlobs(at, { clock }))),
      clock,
    };
    const { journal, ref } = await forgotten(deps, (name) => {
      if (kind === "files") utimesSync(join(at, name.slice("sha256-".length).slice(0, 2), name), 1, 1);
      clock.advance(3_600_000);
    });
    const again = await journal.stageBlob(LARGE);
    const other = await journal.stageBlob(Buffer.alloc(100_000, "never named"));
    await sweep(deps, { limit: 1 });
    expect([ref, other.ref].map(({ name }) => deps.store.blobs.holds(name))).toEqual([true, true]);
    await journal.append({ ...said("2"), blobs: [again.ref] }, { staged: [again] });
    expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 1 } });
    await deps.store.close();
  },
);

test("[JOURNAL-17] what was put again is no hindrance: what lies behind it goes, and it goes itself when its time is over", async () => {
  const clock = new FixedClock();
  const deps = { ...(await sqliteDeps(memoryBlobs(undefined, clock))), clock };
  const { journal, ref } = await forgotten(deps, () => clock.advance(3_600_000));
  const small = await journal.stageBlob(Buffer.from("small"));
  await journal.append({ ...said("2"), blobs: [small.ref] }, { staged: [small] });
  await dropBodies(deps.store, journal, [journal.head.seq], "no longer wanted");
  await journal.stageBlob(LARGE);
  expect(await sweep(deps, { limit: 1 })).toMatchObject({ blobs: 1 });
  clock.advance(300_001);
  expect(await sweep(deps, { limit: 1 })).toMatchObject({ blobs: 1, bytes: LARGE.length });
  expect(deps.store.blobs.holds(ref.name)).toBe(false);
  await deps.store.close();
});

test("[JOURNAL-17] content that is put again while a sweep is under way is left to whoever put it", async () => {
  const clock = new FixedClock();
  const real = memoryBlobs(undefined, clock);
  const blobs: BlobStore = {
    ...real,
    async *list(before) {
      for await (const one of real.list(before)) {
        await real.put(LARGE);
        yield one;
      }
    },
  };
  const deps = { ...(await sqliteDeps(blobs)), clock };
  const { name } = await blobs.put(LARGE);
  clock.advance(10_000_000);
  expect(await sweep(deps)).toMatchObject({ blobs: 0 });
  expect(blobs.holds(name)).toBe(true);
  await deps.store.close();
});

test("[JOURNAL-17] a sweep that dies between removing content and its commit loses nothing that is named", async () => {
  const real = fileBlobs(place());
  let dying = true;
  const blobs: BlobStore = {
    ...real,
    remove(name) {
      const bytes = real.remove(name);
      if (dying) throw new Error("killed here");
      return bytes;
    },
  };
  const deps = await sqliteDeps(blobs);
  const journal = await openJournal(deps, "s");
  const doomed = await journal.stageBlob(LARGE);
  const kept = await journal.stageBlob(Buffer.alloc(100_000, "kept"));
  await journal.append({ ...said("1"), blobs: [doomed.ref] }, { staged: [doomed] });
  await journal.append({ kind: "checkpoint-kept", openCalls: [], blobs: [kept.ref] }, { staged: [kept] });
  await retain(deps, journal, { records: 1 });
  await expect(sweep(deps, { graceMs: 0 })).rejects.toThrow("killed here");
  expect(real.holds(doomed.ref.name)).toBe(false);
  // The records that named it went in a transaction of their own before: what was unlinked, nobody names any more.
  expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 1, faults: [] } });
  dying = false;
  await expect(journal.append({ ...said("again"), blobs: [doomed.ref] }, { staged: [doomed] })).rejects.toMatchObject({
    code: "BLOB_MISSING",
  });
  expect(await sweep(deps, { graceMs: 0 })).toMatchObject({ records: 0, blobs: 1 });
  expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 1 } });
  await journal.append({ ...said("again"), blobs: [doomed.ref] }, { staged: [await journal.stageBlob(LARGE)] });
  expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 2 } });
  await deps.store.close();
});

test.each(["memory", "sqlite"])(
  "[JOURNAL-17] what a session removes by the way, in %s, is only what records named, and no content that was put a moment ago",
  async (kind) => {
    const clock = new FixedClock();
    const deps =
      kind === "memory"
        ? memoryDeps(undefined, clock)
        : { ...(await sqliteDeps(memoryBlobs(undefined, clock))), clock };
    const { store } = deps;
    const journal = await openJournal(deps, "s");
    const large = await journal.stageBlob(LARGE);
    const small = await journal.stageBlob(Buffer.from("small"));
    await journal.append({ ...said("1"), blobs: [large.ref, small.ref] }, { staged: [large, small] });
    await journal.append({ kind: "checkpoint-kept", openCalls: [] });
    await retain(deps, journal, { records: 1 });
    const unnamed = await journal.stageBlob(Buffer.alloc(100_000, "unnamed"));
    await sweepForgotten(deps);
    expect(await store.reading((read) => read.smallBlob(small.ref.name))).toBeUndefined();
    expect(store.blobs.holds(large.ref.name)).toBe(true);
    clock.advance(600_000);
    await journal.stageBlob(LARGE); // somebody is about to name it again
    await sweepForgotten(deps);
    await journal.append({ ...said("2"), blobs: [large.ref] }, { staged: [large] });
    expect(await verify(store)).toMatchObject({ ok: true, blobs: { checked: 1 } });
    await journal.append({ kind: "checkpoint-kept", openCalls: [] });
    await retain(deps, journal, { records: 1 });
    clock.advance(600_000);
    await sweepForgotten(deps);
    expect([large, unnamed].map(({ ref }) => store.blobs.holds(ref.name))).toEqual([false, true]);
    await store.close();
  },
);

test("[JOURNAL-17] what a session removes by the way is found in a large store, too, part by part", async () => {
  const deps = await sqliteDeps();
  const journal = await openJournal(deps, "s");
  const name = async (from: number, count: number) => {
    const staged = await Promise.all(
      Array.from({ length: count }, (_, nth) => journal.stageBlob(Buffer.from(`content ${from + nth}`))),
    );
    await journal.append({ ...said("x"), blobs: staged.map(({ ref }) => ref) }, { staged });
    return staged.map(({ ref }) => ref.name);
  };
  for (let nth = 0; nth < 25; nth += 1) await name(nth * 100, 100);
  const forgotten = await name(10_000, 10);
  await dropBodies(deps.store, journal, [journal.head.seq], "no longer wanted");
  const left = async () => {
    const found = await Promise.all(forgotten.map((one) => deps.store.reading((read) => read.smallBlob(one))));
    return found.filter((bytes) => bytes !== undefined).length;
  };
  await sweepForgotten(deps);
  expect(await left()).toBe(10);
  await sweepForgotten(deps);
  expect(await left()).toBe(0);
  expect(await verify(deps.store)).toMatchObject({ ok: true, blobs: { checked: 2_500 } });
  await deps.store.close();
});

test("[JOURNAL-17] a failing sweep leaves those who write meanwhile undisturbed", async () => {
  const real = memoryBlobs();
  const blobs: BlobStore = {
    ...real,
    remove() {
      throw new Error("no");
    },
  };
  const deps = await sqliteDeps(blobs);
  const journal = await openJournal(deps, "s");
  const { name } = await real.put(LARGE);
  const results = await Promise.allSettled([
    journal.append(said("before")),
    deps.store.commit({ kind: "sweep", limit: 10, candidates: [name] }),
    journal.append(said("after")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect((await collect(journal.read())).length).toBe(2);
  await deps.store.close();
});

test("[JOURNAL-17] a sweep reports the bytes it freed, and the file shrinks", async () => {
  const deps = await sqliteDeps();
  const journal = await openJournal(deps, "s");
  for (let n = 0; n < 40; n += 1) await journal.append(said("x".repeat(50_000)));
  const small = await journal.stageBlob(Buffer.alloc(60_000, 1));
  const large = await journal.stageBlob(LARGE);
  await journal.append({ ...said("y"), blobs: [small.ref, large.ref] }, { staged: [small, large] });
  await journal.append({ kind: "checkpoint-kept", openCalls: [] });
  await retain(deps, journal, { records: 1 });
  const report = await sweep(deps, { limit: 7, graceMs: 0 });
  expect(report).toMatchObject({ records: 41, blobs: 2 });
  expect(report.bytes).toBeGreaterThan(40 * 50_000 + 160_000);
  expect(report.shrunkBy).toBeGreaterThan(1_500_000);
  expect(await sweep(deps)).toEqual({ records: 0, blobs: 0, bytes: 0, shrunkBy: 0 });
  expect(await verify(deps.store)).toMatchObject({ ok: true });
  await deps.store.close();
});

test.each([
  ["graceMs", -1],
  ["graceMs", Number.NaN],
  ["limit", 0],
  ["limit", 1.5],
])("[JOURNAL-17] refuses %s %s", async (option, value) => {
  await expect(sweep(memoryDeps(), { [option]: value })).rejects.toMatchObject({
    code: "BAD_OPTION",
    details: { option },
  });
});

test("[JOURNAL-17] an aborted sweep ends between two steps", async () => {
  const deps = memoryDeps();
  await expect(sweep(deps, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});

test("[JOURNAL-17] a store with a damaged session removes nothing, because nobody knows what that session reaches", async () => {
  const path = join(place(), "store.db");
  const store = await openSqlite(path);
  const deps = { store, clock: new SystemClock(), random: new SystemRandom() };
  const journal = await openJournal(deps, "s");
  const staged = await journal.stageBlob(LARGE);
  await journal.append({ ...said("1"), blobs: [staged.ref] }, { staged: [staged] });
  await journal.close();
  await store.close();
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  database.exec("UPDATE sessions SET head_seq = head_seq - 1");
  database.close();
  const damaged = await openSqlite(path);
  await expect(sweep({ ...deps, store: damaged }, { graceMs: 0 })).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  await sweepForgotten({ ...deps, store: damaged });
  expect(damaged.blobs.holds(staged.ref.name)).toBe(true);
  await damaged.close();
});

test("the memory store lists content by the time it was put", async () => {
  const clock = new FixedClock();
  const store = memoryStore({ clock });
  const { name } = await store.blobs.put(LARGE);
  expect(await collect(store.blobs.list(clock.now()))).toEqual([]);
  expect((await collect(store.blobs.list(clock.now() + 1))).map((ref) => ref.name)).toEqual([name]);
});

test("[JOURNAL-17] content whose keeper cannot tell when it was put is spared by the way, and goes with a whole sweep", async () => {
  const clock = new FixedClock();
  const { lastPut: _lastPut, ...blobs } = memoryBlobs(undefined, clock);
  const deps = { ...memoryDeps(undefined, clock), store: memoryStore({ blobs, clock }) };
  const journal = await openJournal(deps, "s");
  const large = await journal.stageBlob(LARGE);
  await journal.append({ ...said("1"), blobs: [large.ref] }, { staged: [large] });
  await journal.append({ kind: "checkpoint-kept", openCalls: [] });
  await retain(deps, journal, { records: 1 });
  clock.advance(10_000_000);
  await sweepForgotten(deps);
  expect(deps.store.blobs.holds(large.ref.name)).toBe(true);
  await sweep(deps, { graceMs: 0 });
  expect(deps.store.blobs.holds(large.ref.name)).toBe(false);
});
