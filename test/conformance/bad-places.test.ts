import { mkdirSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHoldfast, FixedClock, HoldfastError, type RecordDraft } from "../../src/index.ts";
import { fileBlobs } from "../../src/blobs/files/entry.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { scratchFolder } from "../support/places.ts";
import { brief, collect, MemoryDisk, memoryStore, said } from "../support/stores.ts";

/** Rows of the catalogue of bad input that reach a record's ids, a path or a clock. Each is named by its group and case. */
const folder = scratchFolder();
let places = 0;
const fresh = () => {
  places += 1;
  const place = join(folder, `${places}`);
  mkdirSync(place);
  return place;
};

describe("Records: ids and their order", () => {
  const open = (callId: string): RecordDraft => ({ kind: "call-opened", callId: callId as never, tool: "t", args: {} });
  const close = (callId: string): RecordDraft => ({
    kind: "call-closed",
    callId: callId as never,
    tool: "t",
    status: "success",
  });
  const opened = async () => (await createHoldfast({ store: memoryStore({ disk: new MemoryDisk() }) })).open("s");

  test.each([
    ["duplicate id in turn", [open("a"), open("a")], "CALL_OPEN"],
    ["output before call", [close("a"), open("a")], "CALL_CLOSED"],
    ["two outputs", [open("a"), close("a"), close("a")], "CALL_CLOSED"],
    ["two outputs, the second without a call", [close("nobody")], "CALL_CLOSED"],
    ["missing id", [{ kind: "call-opened", tool: "t", args: {} } as never], "RECORD_MALFORMED"],
  ] as const)("[SEC-4] %s", async (_, drafts, code) => {
    const session = await opened();
    const before = session.journal.head;
    await expect(session.append([said("x"), ...drafts])).rejects.toMatchObject({ code });
    expect(session.journal.head).toEqual(before);
  });

  test.each([
    ["empty id", [open(""), close("")]],
    ["duplicate id across turns", [open("a"), close("a"), said("next"), open("a"), close("a")]],
    ["interleaved parallel calls", [open("a"), open("b"), close("b"), close("a")]],
    ["homoglyph ids", [open("a"), open("\u0430"), close("\u0430"), close("a")]],
  ] as const)("[SEC-4] %s is kept in order and reads back equal", async (_, drafts) => {
    const session = await opened();
    const { first } = await session.append(drafts);
    expect(brief(await collect(session.read({ from: first }))).map((entry) => entry.split(":")[1])).toEqual(
      drafts.map(({ kind }) => kind),
    );
    expect(session.openCalls).toEqual([]);
  });
});

describe("Files: names and places of a store", () => {
  test.each([
    ...[100, 200, 230, 235, 240, 247, 250, 251, 255].map((bytes) => [`${bytes}-byte name`, "n".repeat(bytes)] as const),
    ["256-byte name", "n".repeat(256)],
    ["255-byte name of wide characters", "\u6d4b".repeat(85)],
    ["4,096-byte path", join(...Array.from({ length: 45 }, () => "d".repeat(90)), "store.db")],
    ["trailing dot", "store."],
    ["trailing space", "store "],
    ["reserved Windows name", "con"],
    ["a name that looks like an option", "-wal"],
    ["quotes and SQL", `'; DROP TABLE sessions; --"`],
    ["query characters", "store?mode=memory&x=%00#y"],
    ["NFC", "\u00e9"],
    ["NFD", "e\u0301"],
    ["newline", "a\nb"],
  ] as const)("[SEC-4] %s: works whole, or is refused by a code and leaves nothing", async (_, name) => {
    const place = fresh();
    const path = join(place, name);
    let error: unknown;
    try {
      const holdfast = await createHoldfast({ store: sqlite(path) });
      const session = await holdfast.open("s");
      const blob = await session.journal.stageBlob(Buffer.alloc(70_000, 1));
      await session.append({ ...said("kept"), blobs: [blob.ref] }, { staged: [blob] });
      await session.close();
      await holdfast.close();
    } catch (failure) {
      error = failure;
    }
    if (error !== undefined) {
      expect(HoldfastError.is(error), String(error)).toBe(true);
      expect(readdirSync(place, { recursive: true }).filter((entry) => !`${entry}`.includes("ddd"))).toEqual([]);
      return;
    }
    const again = await createHoldfast({ store: sqlite(path, { create: false }) });
    expect((await again.verify()).ok).toBe(true);
    await again.close();
  });

  test.each([
    ["0-byte file", 0, "STORE_EMPTY_FILE"],
    ["1-byte file", 1, "STORE_FOREIGN_FILE"],
    ["2 GB file", 2 ** 31 + 4096, "STORE_FOREIGN_FILE"],
  ])("[SEC-4] %s in place of a store is refused at once, unread and unchanged", async (_, size, code) => {
    const path = join(fresh(), "store.db");
    writeFileSync(path, "");
    truncateSync(path, size);
    await expect(createHoldfast({ store: sqlite(path) })).rejects.toMatchObject({ code });
    expect(readdirSync(join(path, ".."))).toEqual(["store.db"]);
  });

  test("[SEC-4] 255-byte name: content in a folder with the longest name there is", async () => {
    const blobs = fileBlobs(join(fresh(), "b".repeat(255)));
    const { name, size } = await blobs.put(Buffer.from("content"));
    expect([size, blobs.sizeOf?.(name)]).toEqual([7, 7]);
  });
});

describe("Time", () => {
  test.each([
    ["year 0", Date.UTC(0, 0, 1) - 1900 * 31_556_952_000],
    ["year 1970", 0],
    ["before 1970", -1],
    ["year 9999", Date.UTC(9999, 11, 31, 23, 59, 59, 999)],
    ["the last moment a date can tell", 8.64e15],
    ["beyond it", 8.64e15 + 1],
    ["fractions", 1_000.5],
    ["invalid date", Number.NaN],
    ["infinite", Number.POSITIVE_INFINITY],
  ])("[SEC-4] a clock that says %s: works, or is refused by a code and nothing is written", async (_, now) => {
    const path = join(fresh(), "store.db");
    const clock = new FixedClock(0);
    const holdfast = await createHoldfast({ store: sqlite(path, { durability: "process" }), clock });
    Object.defineProperty(clock, "now", { value: () => now });
    let error: unknown;
    try {
      const session = await holdfast.open("s", { leaseMs: 1_000 });
      await session.append(said("when"));
      await session.close();
    } catch (failure) {
      error = failure;
    }
    if (error !== undefined) expect(HoldfastError.is(error), String((error as Error).stack)).toBe(true);
    await holdfast.close();
    const again = await createHoldfast({ store: sqlite(path, { durability: "process" }) });
    expect(await again.verify()).toMatchObject({ ok: true });
    if (error === undefined) await (await again.open("s", { create: false })).close();
    await again.close();
  });

  test("[SEC-4] decreasing: a clock that goes back neither reorders records nor loses the lease", async () => {
    const clock = new FixedClock(1_000_000);
    const holdfast = await createHoldfast({ store: memoryStore({ disk: new MemoryDisk(), clock }), clock });
    const session = await holdfast.open("s", { leaseMs: 1_000 });
    let now = 1_000_000;
    Object.defineProperty(clock, "now", { value: () => (now -= 10_000) });
    for (const text of ["one", "two", "three"]) await session.append(said(text));
    const entries = await collect(session.read());
    expect(entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    await session.close();
  });
});
