import { expect, test } from "vitest";
import {
  between,
  brief,
  collect,
  ioError,
  memoryDeps,
  MemoryDisk,
  memoryStore,
  said,
  settle,
} from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { SeededRandom } from "../base/random.ts";
import type { WriteBatch } from "../contracts/store.ts";
import { MAX_SEQ } from "../records/chain.ts";
import { nameOfBytes } from "../records/blob-name.ts";
import { toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { Journal } from "./journal.ts";
import type { Fold } from "./seal-batch.ts";
import { openJournal } from "./open.ts";
import { rowOf } from "./read.ts";

async function texts(journal: Journal): Promise<string[]> {
  return (await collect(journal.read())).map((entry) => ("text" in entry ? String(entry.text) : entry.kind));
}

/** Whose store writes no append while it is failing. */
function flakyDeps() {
  const { store, ...rest } = memoryDeps();
  const before = (batch: WriteBatch) => {
    if (deps.failing && batch.kind === "append") throw ioError();
    return undefined;
  };
  const deps = { ...rest, store: between(store, { before }), failing: false };
  return deps;
}

const code = (expected: string) => expect.objectContaining({ code: expected });

test("[JOURNAL-1] appends that do not wait for each other are written in the order of the calls", async () => {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s");
  const appended = await Promise.all(
    Array.from({ length: 50 }, (_, n) => journal.append([said(`${n}a`), said(`${n}b`)])),
  );
  expect(appended.map(({ first, last }) => [first, last])).toEqual(
    Array.from({ length: 50 }, (_, n) => [2 * n + 1, 2 * n + 2]),
  );
  expect(await texts(journal)).toEqual(Array.from({ length: 50 }, (_, n) => [`${n}a`, `${n}b`]).flat());
  expect(journal.head.seq).toBe(100);
});

test("[JOURNAL-1] an append is all of its records or none", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  const bad = { kind: "user-said", text: 7 } as unknown as RecordDraft;
  await expect(journal.append([said("a"), bad, said("b")])).rejects.toEqual(code("RECORD_MALFORMED"));
  expect(journal.head.seq).toBe(0);
  await journal.append(said("c"));
  expect(await texts(journal)).toEqual(["c"]);
});

test("[JOURNAL-2] a bad draft fails alone: those under way and those after it are written", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  const results = await Promise.allSettled([
    journal.append(said("before")),
    journal.append({ kind: "no-such" } as unknown as RecordDraft),
    journal.append(said("after")),
  ]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await texts(journal)).toEqual(["before", "after"]);
});

test("[JOURNAL-1] what the caller changes after the call changes nothing, also when the append has to wait", async () => {
  const { store, ...deps } = memoryDeps();
  let fail = true;
  const flaky = between(store, {
    before: () => {
      if (fail) throw ioError();
      return undefined;
    },
  });
  fail = false;
  const journal = await openJournal({ ...deps, store: flaky }, "s");
  fail = true;
  await expect(journal.append(said("lost"))).rejects.toEqual(code("STORE_IO"));
  fail = false;
  const parts = ["a"];
  const draft = { kind: "user-said", text: "mine", parts } as const;
  const waiting = journal.append(draft);
  parts.push("b");
  await waiting;
  expect(await collect(journal.read())).toMatchObject([{ text: "mine", parts: ["a"] }]);
});

test("[JOURNAL-2] a failed append fails those that hang on it with its own error, and the next one works", async () => {
  const { store, ...deps } = memoryDeps();
  let sent = 0;
  const error = ioError();
  const flaky = between(store, {
    before: (batch) => {
      if (batch.kind === "append") sent += 1;
      if (sent === 3) throw error;
      return undefined;
    },
  });
  const journal = await openJournal({ ...deps, store: flaky }, "s");
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => journal.append(said(`${n}`))));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "rejected"]);
  for (const result of results.slice(2)) expect(result).toMatchObject({ reason: error });
  expect(journal.head.seq).toBe(2);
  const [six, seven] = await Promise.all([journal.append(said("6")), journal.append(said("7"))]);
  expect([six?.first, seven?.first]).toEqual([3, 4]);
  expect(await texts(journal)).toEqual(["1", "2", "6", "7"]);
});

test("[JOURNAL-2] whoever hangs on a refused append is told why that one was refused", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  const ref = { name: nameOfBytes(new Uint8Array(3)), size: 3 };
  const results = await Promise.allSettled([
    journal.append({ ...said("names nothing"), blobs: [ref] }),
    journal.append(said("after")),
  ]);
  for (const result of results) expect(result).toMatchObject({ reason: { code: "BLOB_MISSING" } });
  await journal.append(said("next"));
  expect(await texts(journal)).toEqual(["next"]);
});

test("[JOURNAL-2] appends made during recovery from a failure keep the order of the calls", async () => {
  const deps = flakyDeps();
  const journal = await openJournal(deps, "s");
  for (let round = 0; round < 20; round += 1) {
    deps.failing = true;
    await journal.append(said("lost")).catch(() => undefined);
    deps.failing = false;
    const calls: Promise<unknown>[] = [];
    for (let n = 0; n < 8; n += 1) {
      calls.push(journal.append(said(`${round}/${n}`)));
      for (let tick = 0; tick < (round * n) % 7; tick += 1) await Promise.resolve();
    }
    await Promise.all(calls);
  }
  expect(await texts(journal)).toEqual(
    Array.from({ length: 20 }, (_, round) => Array.from({ length: 8 }, (_, n) => `${round}/${n}`)).flat(),
  );
});

test("[JOURNAL-1] when a failure is over, appends are sent without waiting for each other again", async () => {
  const { store, ...deps } = memoryDeps();
  let failing = false;
  let sent = 0;
  const flaky = between(store, {
    before: (batch) => {
      if (batch.kind === "append") sent += 1;
      if (failing) throw ioError();
      return undefined;
    },
  });
  const journal = await openJournal({ ...deps, store: flaky }, "s");
  failing = true;
  await journal.append(said("lost")).catch(() => undefined);
  failing = false;
  await Promise.all([journal.append(said("1")), journal.append(said("2"))]);
  sent = 0;
  const calls = [journal.append(said("3")), journal.append(said("4")), journal.append(said("5"))];
  expect(sent).toBe(3);
  await Promise.all(calls);
  expect(await texts(journal)).toEqual(["1", "2", "3", "4", "5"]);
});

test("[JOURNAL-2] a failure that outlasts a retry is told again, and nothing is written twice when it ends", async () => {
  const deps = flakyDeps();
  deps.failing = true;
  const journal = await openJournal(deps, "s");
  for (let n = 0; n < 3; n += 1) await expect(journal.append(said("x"))).rejects.toEqual(code("STORE_IO"));
  deps.failing = false;
  await journal.append(said("y"));
  expect(await texts(journal)).toEqual(["y"]);
});

test("[JOURNAL-3] an operation sent again after an unclear failure is found, not written twice", async () => {
  const { store, ...deps } = memoryDeps();
  let unclear = true;
  const flaky = between(store, {
    after: (batch) => {
      if (unclear && batch.kind === "append") throw ioError();
    },
  });
  const journal = await openJournal({ ...deps, store: flaky }, "s");
  await expect(journal.append([said("a"), said("b")], { operation: "op" })).rejects.toEqual(code("STORE_IO"));
  unclear = false;
  expect(await journal.append([said("a"), said("b")], { operation: "op" })).toEqual({
    first: 1,
    last: 2,
    repeated: true,
  });
  expect(await journal.append(said("c"))).toEqual({ first: 3, last: 3, repeated: false });
  expect(await texts(journal)).toEqual(["a", "b", "c"]);
});

test("[JOURNAL-3] appends sent right behind a repeated operation are written, in order", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  await journal.append(said("a"), { operation: "op" });
  const results = await Promise.all([
    journal.append(said("b")),
    journal.append(said("a"), { operation: "op" }),
    journal.append(said("c")),
    journal.append(said("a"), { operation: "op" }),
    journal.append([said("d"), said("e")]),
    journal.append(said("f"), { operation: "op-2" }),
  ]);
  expect(results.map(({ first, repeated }) => [first, repeated])).toEqual([
    [2, false],
    [1, true],
    [3, false],
    [1, true],
    [4, false],
    [6, false],
  ]);
  expect(await texts(journal)).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(journal.head.seq).toBe(6);
});

test("[JOURNAL-3] an unclear append that did reach the disk is part of what later ones build on", async () => {
  const { store, ...deps } = memoryDeps();
  let unclear = false;
  const flaky = between(store, {
    after: (batch) => {
      if (unclear && batch.kind === "append") throw ioError();
    },
  });
  const counting: Fold<number> = {
    start: (tail) => tail.length,
    step: (now) => now + 1,
    due: () => undefined,
  };
  const journal = await openJournal({ ...deps, store: flaky }, "s", { fold: counting });
  unclear = true;
  await expect(journal.append(said("unclear"))).rejects.toEqual(code("STORE_IO"));
  unclear = false;
  await journal.append(said("next"));
  expect(await texts(journal)).toEqual(["unclear", "next"]);
  expect(journal.folded).toBe(2);
});

test.each(["", "x".repeat(201), "\ud800", 7, null])("[JOURNAL-3] %j is no operation", async (operation) => {
  const journal = await openJournal(memoryDeps(), "s");
  const bad = journal.append(said("x"), { operation: operation as string });
  await expect(bad).rejects.toEqual(code("BAD_OPTION"));
  expect(journal.head.seq).toBe(0);
  await journal.append(said("x"), { operation: "x".repeat(200) });
});

test("[JOURNAL-3] an operation is never `unsynced`: whoever sends it again is told that it is kept", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  const both = journal.append(said("x"), { operation: "x", unsynced: true });
  await expect(both).rejects.toEqual(code("BAD_OPTION"));
  expect(journal.head.seq).toBe(0);
});

test("[JOURNAL-2] a checkpoint that is due and too large to be kept fails nobody's append", async () => {
  const due: Fold<undefined> = {
    start: () => undefined,
    step: () => undefined,
    due: () => ({ kind: "checkpoint-kept", openCalls: [], state: "x".repeat(2_000) }),
  };
  const limits = { depth: 10, characters: 1_000 };
  const journal = await openJournal(memoryDeps(), "s", { fold: due, limits });
  await Promise.all([journal.append(said("1")), journal.append(said("2"))]);
  expect(await texts(journal)).toEqual(["1", "2"]);
  expect(journal.sinceCheckpoint).toBe(2);
});

test("[JOURNAL-4] [R08] a session that has used up its sequence numbers refuses, and nothing is written", async () => {
  const deps = memoryDeps();
  const session = toSessionId("full");
  const genesis = { seq: MAX_SEQ - 2, hash: "0".repeat(64) };
  await deps.store.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis });
  const due: Fold<undefined> = {
    start: () => undefined,
    step: () => undefined,
    due: () => ({ kind: "checkpoint-kept", openCalls: [] }),
  };
  const journal = await openJournal(deps, "full", { fold: due });
  await expect(journal.append([said("1"), said("2"), said("3")])).rejects.toEqual(code("SESSION_FULL"));
  expect(journal.head.seq).toBe(MAX_SEQ - 2);
  await journal.append([said("1"), said("2")]);
  expect(journal.head.seq).toBe(MAX_SEQ);
  const before = await deps.store.reading((read) => read.session(session));
  await expect(journal.append(said("3"))).rejects.toEqual(code("SESSION_FULL"));
  expect(await deps.store.reading((read) => read.session(session))).toEqual(before);
  expect(await texts(journal)).toEqual(["1", "2"]);
  await journal.close();
});

test("[JOURNAL-5] an idle writer renews its lease in time, and a closed one no longer", async () => {
  const { store, clock, random } = memoryDeps();
  const renewed: number[] = [];
  const watched = between(store, {
    before: (batch) => {
      if (batch.kind === "renew") renewed.push(batch.leaseMs);
      return undefined;
    },
  });
  const journal = await openJournal({ store: watched, clock, random }, "s", { leaseMs: 900 });
  for (let step = 0; step < 30; step += 1) {
    clock.advance(100);
    await settle();
    const row = await store.reading((read) => read.session(journal.session));
    expect(row?.leaseUntil).toBeGreaterThan(clock.now());
  }
  expect(renewed.length).toBeGreaterThanOrEqual(5);
  expect(renewed.length).toBeLessThanOrEqual(10);
  await journal.close();
  const before = renewed.length;
  clock.advance(10_000);
  await settle();
  expect(renewed.length).toBe(before);
});

test("[JOURNAL-5] appending is renewing: a busy writer sends no renewals of its own", async () => {
  const { store, clock, random } = memoryDeps();
  const kinds: string[] = [];
  const watched = between(store, { after: (batch) => void kinds.push(batch.kind) });
  const journal = await openJournal({ store: watched, clock, random }, "s", { leaseMs: 900 });
  for (let step = 0; step < 30; step += 1) {
    clock.advance(100);
    await journal.append(said(`${step}`));
    await settle();
  }
  expect(kinds.filter((kind) => kind === "renew")).toEqual([]);
  const row = await store.reading((read) => read.session(journal.session));
  expect(row?.leaseUntil).toBe(clock.now() + 900);
});

test("[JOURNAL-5] a renewal that fails is tried again", async () => {
  const { store, clock, random } = memoryDeps();
  let failing = true;
  let renewals = 0;
  const flaky = between(store, {
    before: (batch) => {
      if (batch.kind !== "renew") return undefined;
      renewals += 1;
      if (failing) throw ioError();
      return undefined;
    },
  });
  const journal = await openJournal({ store: flaky, clock, random }, "s", { leaseMs: 900 });
  clock.advance(300);
  await settle();
  failing = false;
  clock.advance(300);
  await settle();
  expect(renewals).toBe(2);
  expect(journal.signal.aborted).toBe(false);
  await journal.append(said("x"));
});

test("[JOURNAL-6] a writer whose session was taken over learns it, writes no more, and its successor is undisturbed", async () => {
  const disk = new MemoryDisk();
  const clock = new FixedClock();
  const first = memoryDeps(disk, clock);
  const old = await openJournal(first, "s", { leaseMs: 1_000 });
  await old.append(said("old"));
  const second = memoryDeps(disk, new FixedClock("2026-01-01T01:00:00.000Z"));
  const young = await openJournal(second, "s");
  expect(young.opened.previousWriter).toBe("expired");
  await expect(old.append(said("stale"))).rejects.toEqual(code("LEASE_LOST"));
  expect(old.signal.aborted).toBe(true);
  expect(old.signal.reason).toEqual(code("LEASE_LOST"));
  await expect(old.append(said("stale"))).rejects.toEqual(code("LEASE_LOST"));
  await old.close();
  await young.append(said("young"));
  expect(await texts(young)).toEqual(["old", "young"]);
});

test("[JOURNAL-6] an idle writer learns of the take-over by its next renewal", async () => {
  const disk = new MemoryDisk();
  const first = memoryDeps(disk);
  const old = await openJournal(first, "s", { leaseMs: 900 });
  await openJournal(memoryDeps(disk, new FixedClock("2026-01-01T01:00:00.000Z")), "s");
  first.clock.advance(301);
  await settle();
  expect(old.signal.reason).toEqual(code("LEASE_LOST"));
});

test("[JOURNAL-6] a writer that recovers from a failure notices a take-over before it writes", async () => {
  const disk = new MemoryDisk();
  const { store, ...deps } = memoryDeps(disk);
  let failing = false;
  const appends: WriteBatch[] = [];
  const flaky = between(store, {
    before: (batch) => {
      if (batch.kind === "append") appends.push(batch);
      if (failing) throw ioError();
      return undefined;
    },
  });
  const old = await openJournal({ ...deps, store: flaky }, "s", { leaseMs: 1_000 });
  failing = true;
  await expect(old.append(said("x"))).rejects.toEqual(code("STORE_IO"));
  failing = false;
  await openJournal(memoryDeps(disk, new FixedClock("2026-01-01T01:00:00.000Z")), "s");
  await expect(old.append(said("y"))).rejects.toEqual(code("LEASE_LOST"));
  expect(appends.length).toBe(1);
});

test("[JOURNAL-6] a head that moved although nobody took the lease is told, and the next append builds on what is there", async () => {
  const { store, ...deps } = memoryDeps();
  const journal = await openJournal({ ...deps, store }, "s");
  const intruder = new Journal({ ...deps, store }, await rowOf(store, journal.session), journal.opened, {
    leaseMs: 1_000,
  });
  await intruder.append(said("intruder"));
  await expect(journal.append(said("mine"))).rejects.toEqual(code("HEAD_MOVED"));
  await journal.append(said("mine"));
  expect(await texts(journal)).toEqual(["intruder", "mine"]);
});

test("[JOURNAL-7] closing waits for what is under way, gives the session free at once, and ends the journal", async () => {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s");
  const last = journal.append(said("last"));
  await Promise.all([journal.close(), journal.close()]);
  expect((await last).first).toBe(1);
  await expect(journal.append(said("late"))).rejects.toEqual(code("JOURNAL_CLOSED"));
  expect(journal.signal.reason).toEqual(code("JOURNAL_CLOSED"));
  await journal.close();
  await using next = await openJournal(deps, "s");
  expect(next.opened.previousWriter).toBe("closed");
  expect(await texts(journal)).toEqual(["last"]);
});

test("[JOURNAL-7] an append that closing found still recovering is written before the session is free", async () => {
  const deps = flakyDeps();
  const journal = await openJournal(deps, "s");
  deps.failing = true;
  await journal.append(said("lost")).catch(() => undefined);
  deps.failing = false;
  const recovering = journal.append(said("kept"));
  await journal.close();
  expect(await recovering).toMatchObject({ first: 1 });
});

test("[JOURNAL-7] closing after the store was closed is no failure, and one that cannot release says so", async () => {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s");
  await deps.store.close();
  await journal.close();
  const { store, ...rest } = memoryDeps();
  const stuck = between(store, {
    before: (batch) => {
      if (batch.kind === "release") throw ioError();
      return undefined;
    },
  });
  const other = await openJournal({ ...rest, store: stuck }, "s");
  await expect(other.close()).rejects.toEqual(code("STORE_IO"));
});

test("[JOURNAL-7] a journal whose store was closed ends by its next renewal", async () => {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s", { leaseMs: 900 });
  await deps.store.close();
  deps.clock.advance(301);
  await settle();
  expect(journal.signal.reason).toEqual(code("STORE_CLOSED"));
});

test("[JOURNAL-8] small content travels with its record, large content lies beside, and both are read back and proven", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  for (const size of [0, 1, 65_536, 65_537, 3_000_000]) {
    const bytes = Buffer.alloc(size, "content");
    for (const source of [bytes, [bytes.subarray(0, 10), bytes.subarray(10)]]) {
      const staged = await journal.stageBlob(source);
      expect(staged.ref).toEqual({ name: nameOfBytes(bytes), size });
      expect(staged.bytes === undefined).toBe(size > 65_536);
      await journal.append({ ...said(`${size}`), blobs: [staged.ref] }, { staged: [staged] });
      const got = Buffer.concat(await collect(journal.readBlob(staged.ref.name)));
      expect(got.equals(bytes)).toBe(true);
      const from = Math.min(3, size);
      const part = Buffer.concat(await collect(journal.readBlob(staged.ref.name, { from, to: size })));
      expect(part.equals(bytes.subarray(from))).toBe(true);
      await expect(collect(journal.readBlob(staged.ref.name, { from: 0, to: size + 1 }))).rejects.toEqual(
        code("BLOB_BAD_RANGE"),
      );
    }
  }
});

test("[JOURNAL-8] a source may reuse its buffer, whether its content turns out small or large", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  for (const pieces of [3, 30]) {
    const source = function* () {
      const buffer = Buffer.alloc(5_000);
      for (let n = 0; n < pieces; n += 1) yield buffer.fill(n);
    };
    const whole = Buffer.concat(Array.from({ length: pieces }, (_, n) => Buffer.alloc(5_000, n)));
    expect((await journal.stageBlob(source())).ref).toEqual({ name: nameOfBytes(whole), size: whole.length });
  }
});

test("[JOURNAL-8] content that was changed after it was staged is refused, and nothing is written", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  const staged = await journal.stageBlob(Buffer.from("mine"));
  staged.bytes?.fill(0);
  const append = journal.append({ ...said("x"), blobs: [staged.ref] }, { staged: [staged] });
  await expect(append).rejects.toEqual(code("BLOB_CORRUPT"));
  expect(journal.head.seq).toBe(0);
});

test.each([10, 100_000])(
  "[JOURNAL-8] an abort ends the staging of a source that stalls after %i bytes",
  async (given) => {
    const deps = memoryDeps();
    const journal = await openJournal(deps, "s");
    const stop = new AbortController();
    const stalled = Promise.withResolvers<void>();
    const source = async function* () {
      yield Buffer.alloc(given);
      stalled.resolve();
      await new Promise<never>(() => {});
    };
    const staging = journal.stageBlob(source(), stop.signal);
    await stalled.promise;
    stop.abort(new Error("enough"));
    await expect(staging).rejects.toThrow("enough");
    expect(await collect(deps.store.blobs.list())).toEqual([]);
    await journal.close();
  },
);

test("[JOURNAL-8] a source that fails, is aborted or gives no bytes is left in order and leaves nothing", async () => {
  const { store, clock, random } = memoryDeps();
  const journal = await openJournal({ store, clock, random }, "s");
  let returned = 0;
  const source = async function* (pieces: number, piece: unknown = Buffer.alloc(50_000)) {
    try {
      for (let n = 0; n < pieces; n += 1) yield piece as Uint8Array;
      throw new Error("mine");
    } finally {
      returned += 1;
    }
  };
  await expect(journal.stageBlob(source(1))).rejects.toThrow("mine");
  await expect(journal.stageBlob(source(4))).rejects.toThrow("mine");
  for (const odd of ["text", [1], null, undefined]) {
    if (odd !== undefined) await expect(journal.stageBlob(source(2, odd))).rejects.toEqual(code("BLOB_BAD_SOURCE"));
    await expect(journal.stageBlob(odd as unknown as Uint8Array[])).rejects.toEqual(code("BLOB_BAD_SOURCE"));
  }
  const aborted = AbortSignal.abort(new Error("enough"));
  await expect(journal.stageBlob(source(1), aborted)).rejects.toThrow("enough");
  await expect(journal.stageBlob(Buffer.alloc(1), aborted)).rejects.toThrow("enough");
  const stop = new AbortController();
  const stopping = async function* () {
    try {
      yield Buffer.alloc(10);
      stop.abort(new Error("enough"));
      yield Buffer.alloc(10);
      yield Buffer.alloc(10);
    } finally {
      returned += 1;
    }
  };
  await expect(journal.stageBlob(stopping(), stop.signal)).rejects.toThrow("enough");
  expect(returned).toBe(6);
  expect(await collect(store.blobs.list())).toEqual([]);
});

test("[SEC-3] a text that is no name of content reaches neither a record nor the blob store", async () => {
  const journal = await openJournal(memoryDeps(), "s");
  for (const name of ["", "../../etc/passwd", "sha256-..", `sha256-${"A".repeat(64)}`]) {
    const blobs = [{ name, size: 1 }] as unknown as NonNullable<RecordDraft["blobs"]>;
    await expect(journal.append({ ...said("x"), blobs })).rejects.toEqual(code("RECORD_MALFORMED"));
    await expect(collect(journal.readBlob(name as never))).rejects.toEqual(code("BLOB_BAD_NAME"));
  }
  expect(journal.head.seq).toBe(0);
});

test("[JOURNAL-9] a fold moves with the chain and falls back with it, so that it never speaks of a record that is not there", async () => {
  const deps = flakyDeps();
  const fold: Fold<readonly string[]> = {
    start: (tail) => brief(tail),
    step: (now, draft) => [...now, draft.kind === "user-said" ? draft.text : draft.kind],
    due: (_, since) => (since < 4 ? undefined : { kind: "checkpoint-kept", openCalls: [] }),
  };
  const journal = await openJournal(deps, "s", { fold });
  await journal.append([said("1"), said("2")]);
  deps.failing = true;
  await Promise.allSettled([journal.append(said("x")), journal.append([said("y"), said("z")])]);
  deps.failing = false;
  expect(journal.folded).toEqual(["1", "2"]);
  await Promise.all([journal.append(said("3")), journal.append(said("4")), journal.append(said("5"))]);
  expect(journal.folded).toEqual(["1", "2", "3", "4", "checkpoint-kept", "5"]);
  await journal.close();
  const again = await openJournal(deps, "s", { fold });
  expect(again.folded).toEqual(["5:checkpoint-kept", "6:user-said"]);
  await again.append([said("7"), said("8")]);
  expect(await texts(again)).toEqual(["1", "2", "3", "4", "checkpoint-kept", "5", "7", "8", "checkpoint-kept"]);
});

test("[JOURNAL-5] a clock that counts fractions of a millisecond, jumps back or stands still does no harm", async () => {
  const clock = new FixedClock(1_767_225_600_000.7);
  const deps = { store: memoryStore({ clock }), clock, random: new SeededRandom("x") };
  const journal = await openJournal(deps, "s", { leaseMs: 1_000 });
  const ends: (number | undefined)[] = [];
  const append = async (text: string) => {
    await journal.append(said(text));
    ends.push((await deps.store.reading((read) => read.session(journal.session)))?.leaseUntil);
  };
  await append("1");
  clock.setWall(-1);
  await append("2");
  clock.setWall(253_402_300_800_000);
  await append("3");
  expect(ends).toEqual([1_767_225_601_001, 999, 253_402_300_801_000]);
  expect((await collect(journal.read())).map((entry) => ("at" in entry ? entry.at : ""))).toEqual([
    "2026-01-01T00:00:00.000Z",
    "1969-12-31T23:59:59.999Z",
    "+010000-01-01T00:00:00.000Z",
  ]);
  expect(HoldfastError.is(journal.signal.reason)).toBe(false);
});

test("[JOURNAL-9] answers that come in another order than the commits leave the head at the newest", async () => {
  const { store, ...deps } = memoryDeps();
  const answers: (() => void)[] = [];
  const slow: typeof store = {
    ...store,
    commit: async (batch) => {
      const receipt = await store.commit(batch);
      if (batch.kind === "append") await new Promise<void>((resolve) => answers.push(resolve));
      return receipt;
    },
  };
  const journal = await openJournal({ ...deps, store: slow }, "s");
  const appends = [journal.append(said("a")), journal.append(said("b"))];
  while (answers.length < 2) await settle();
  for (const answer of answers.toReversed()) {
    answer();
    await settle();
  }
  await Promise.all(appends);
  expect(journal.head.seq).toBe(2);
});
