import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { appendReserved } from "../../src/journal/journal.ts";
import { type CallId, createHoldfast, FixedClock, HoldfastError, type Json } from "../../src/index.ts";
import { fileBlobs } from "../../src/blobs/files/entry.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { scratchFolder } from "../support/places.ts";
import { collect, said } from "../support/stores.ts";

/** The catalogue of bad input again, as what it can do to an option, a path, an id or a name. */
const folder = scratchFolder();
const path = join(folder, "store.db");
const holdfast = await createHoldfast({ store: sqlite(path) });
const session = await holdfast.open("s");
for (const text of ["1", "2", "3"]) await session.append(said(text));
const { ref } = await session.journal.stageBlob(new Uint8Array(100_000));
afterAll(() => holdfast.close());

const VALUES: Readonly<Record<string, unknown>> = {
  "-1": -1,
  "1.5": 1.5,
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "2^53": 2 ** 53,
  "a numeric string": "1",
  "an empty string": "",
  "a lone surrogate": "\ud800",
  "U+0000": "a\0b",
  "a newline": "a\nb",
  "..": "..",
  "a long string": "x".repeat(300),
  null: null,
  "an object": {},
  true: true,
  "a big integer": 10n,
  "a symbol": Symbol("x"),
  "a function": () => 1,
};

let fresh = 0;
const name = () => `fresh-${(fresh += 1)}`;
const file = () => join(folder, `${name()}.db`);
const close = async (opened: Promise<{ close(): Promise<void> }>) => (await opened).close();
const openWith = (options: object) => close(holdfast.open(name(), options));
const storeWith = (options: object) => close(createHoldfast({ store: sqlite(file(), options) }));

/** Where a value can get in, and which of the odd ones are no mistake there. */
const ENTRIES: Readonly<Record<string, readonly [(value: never) => Promise<unknown>, ...fine: string[]]>> = {
  "a session's id": [(id) => close(holdfast.open(id)), "a numeric string"],
  "a fork's id": [(as) => close(holdfast.fork("s", { as }))],
  "where to fork": [(after) => close(holdfast.fork("s", { as: name(), after }))],
  leaseMs: [(leaseMs) => openWith({ leaseMs })],
  create: [(create) => openWith({ create }), "true"],
  limits: [(limits) => openWith({ limits })],
  "limits.depth": [(depth) => openWith({ limits: { depth, characters: 100 } })],
  "limits.characters": [(characters) => openWith({ limits: { depth: 10, characters } })],
  "one limit without the other": [(depth) => openWith({ limits: { depth } })],
  "read from": [(from) => collect(session.read({ from }))],
  "read to": [(to) => collect(session.read({ to }))],
  "retention by records": [(records) => holdfast.retain(session, { records }), "1.5", "Infinity", "2^53"],
  "retention by bytes": [(bytes) => holdfast.retain(session, { bytes }), "1.5", "Infinity", "2^53"],
  "retention by age": [(ageMs) => holdfast.retain(session, { ageMs }), "1.5", "Infinity", "2^53"],
  "a sweep's grace": [(graceMs) => holdfast.sweep({ graceMs }), "1.5", "Infinity", "2^53"],
  "a sweep's limit": [(limit) => holdfast.sweep({ limit })],
  "a session to verify": [(id) => holdfast.verify({ session: id }), "a numeric string"],
  "an operation": [
    (operation) => session.append(said("x"), { operation }),
    "a numeric string",
    "U+0000",
    "a newline",
    "..",
  ],
  "staged content": [(staged) => session.append(said("x"), { staged })],
  "an anchor": [(anchor) => appendReserved(session.journal, said("x"), { anchor })],
  "a checkpoint": [(checkpoint) => appendReserved(session.journal, said("x"), { checkpoint }), "an object"],
  "a draft": [(draft) => session.append(draft)],
  content: [(source) => session.journal.stageBlob(source)],
  "content's name": [(blob) => collect(session.journal.readBlob(blob))],
  "a range's begin": [(from) => collect(holdfast.store.blobs.get(ref.name, { from, to: 10 }))],
  "a range's end": [(to) => collect(holdfast.store.blobs.get(ref.name, { from: 0, to }))],
  durability: [(durability) => storeWith({ durability })],
  network: [(network) => storeWith({ network })],
  busyLimit: [(busyLimit) => storeWith({ busyLimit }), "1.5", "Infinity", "2^53"],
  "a store": [(store) => createHoldfast({ store })],
};

test.each(Object.entries(ENTRIES))("[SEC-4] %s: a typed error or a use that works", async (_, [use, ...fine]) => {
  const before = session.journal.head.seq;
  let used = 0;
  for (const [what, value] of Object.entries(VALUES)) {
    const outcome = await use(value as never).then(
      () => "works",
      (error: unknown) => (HoldfastError.is(error) ? "refused" : error),
    );
    expect([what, outcome]).toEqual([what, fine.includes(what) ? "works" : "refused"]);
    if (outcome === "works") used += 1;
  }
  expect(used).toBe(fine.length);
  expect(session.journal.head.seq - before).toBeLessThanOrEqual(2 * used); // nothing of what was refused
});

test("[ID-16] options that do not exist are refused wherever there are options", async () => {
  const misspelt = { durabilty: "process", leasMs: 1_000, graceMS: 0, form: 1, sesion: "s", record: 1, synk: false };
  const tries = [
    () => storeWith(misspelt),
    () => openWith(misspelt),
    () => holdfast.sweep(misspelt as never),
    () => holdfast.retain(session, misspelt as never),
    () => holdfast.verify(misspelt as never),
    () => collect(session.read(misspelt as never)),
    () => session.append(said("x"), misspelt as never),
    () => createHoldfast({ store: memoryStore(), ...misspelt } as never),
    () => holdfast.fork("s", { as: "t", ...misspelt } as never),
    async () => fileBlobs(folder, misspelt as never),
    async () => memoryStore(misspelt as never),
  ];
  for (const attempt of tries) await expect(attempt()).rejects.toMatchObject({ code: "BAD_OPTION" });
});

test.each([null, 5, "text"])("[ID-16] %j instead of options is refused by name", async (odd) => {
  const tries = [
    () => session.append(said("x"), odd as never),
    () => holdfast.open("s", odd as never),
    () => holdfast.fork("s", odd as never),
    () => createHoldfast(odd as never),
    () => session.append(said("x"), { staged: [odd] } as never),
    () => createHoldfast({ store: memoryStore(), random: { hex: odd } } as never),
  ];
  for (const attempt of tries) await expect(attempt()).rejects.toMatchObject({ code: "BAD_OPTION" });
});

test("[JOURNAL-19] what the largest limits let in reads back equal, with any limits", async () => {
  const deep = JSON.parse(`${"[".repeat(900)}7${"]".repeat(900)}`) as Json;
  const wide = await holdfast.open("deep", { limits: { depth: 1_000, characters: 1e6 } });
  await wide.append({ kind: "call-late", callId: "c" as CallId, tool: "t", output: deep });
  await wide.close();
  const again = await holdfast.open("deep");
  const late = (await collect(again.read())).find(({ kind }) => kind === "call-late");
  expect(late).toMatchObject({ output: deep });
  expect(again.recovered).toMatchObject({ damaged: [] });
  await again.close();
});

test("[JOURNAL-5] a clock that gives no time fails what needs one, and nothing else", async () => {
  const clock = new FixedClock();
  const own = await createHoldfast({ store: memoryStore({ clock }), clock });
  const open = await own.open("s");
  const now = clock.now();
  for (const wall of [Number.NaN, Number.POSITIVE_INFINITY, 8.65e15, "today" as never]) {
    clock.setWall(wall);
    await expect(open.append(said("without a time"))).rejects.toMatchObject({ code: "BAD_OPTION" });
    await expect(own.open("other")).rejects.toMatchObject({ code: "BAD_OPTION" });
  }
  clock.setWall(now);
  await open.append(said("on time"));
  expect((await collect(open.read())).map(({ kind }) => kind)).toEqual(["session-created", "user-said"]);
  await own.close();
});

test("[SEC-4] after all of it the store is sound", async () => {
  expect(await holdfast.verify()).toMatchObject({ ok: true });
});
