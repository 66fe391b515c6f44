import { describe, expect, test } from "vitest";
import { between, brief, ioError, memoryDeps, MemoryDisk, said } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import type { WriteBatch } from "../contracts/store.ts";
import { seal } from "../records/chain.ts";
import { forkSession } from "./fork.ts";
import { openJournal } from "./open.ts";
import { dropBodies, retain } from "./retention.ts";

const code = (expected: string) => expect.objectContaining({ code: expected });

/** A session of records and checkpoints: `c` is a checkpoint, anything else is said. */
async function made(story: string) {
  const disk = new MemoryDisk();
  const deps = memoryDeps(disk);
  const journal = await openJournal(deps, "s");
  for (const letter of story)
    await journal.append(letter === "c" ? { kind: "checkpoint-kept", openCalls: [] } : said(letter));
  await journal.close();
  return { disk, deps };
}

describe("[JOURNAL-13] opening", () => {
  test("makes a session unless told not to", async () => {
    const deps = memoryDeps();
    await expect(openJournal(deps, "s", { create: false })).rejects.toEqual(code("SESSION_UNKNOWN"));
    await (await openJournal(deps, "s")).close();
    await (await openJournal(deps, "s", { create: false })).close();
  });

  test.each(["", ".", "..", ".x", "a/b", "a\\b", "a b", "é", "x".repeat(201), "a\0", "a\n", 7, null, undefined])(
    "[SEC-3] refuses the id %j",
    async (id) => {
      await expect(openJournal(memoryDeps(), id as string)).rejects.toEqual(code("SESSION_BAD_ID"));
    },
  );

  test.each(["a", "A.b-c_d:e", "0", "-", "x".repeat(200), "__proto__", "constructor"])(
    "accepts the id %j",
    async (id) => {
      const deps = memoryDeps();
      const journal = await openJournal(deps, id);
      await journal.append(said("x"));
      await journal.close();
      expect((await openJournal(deps, id, { create: false })).head.seq).toBe(1);
    },
  );

  test.each([0, 9, -1, Number.NaN, Number.POSITIVE_INFINITY, 86_400_001, 10.5, "1000"])(
    "refuses a lease of %s ms",
    async (leaseMs) => {
      const deps = memoryDeps();
      await expect(openJournal(deps, "s", { leaseMs: leaseMs as number })).rejects.toEqual(code("BAD_OPTION"));
      await expect(openJournal(deps, "s", { create: false })).rejects.toEqual(code("SESSION_UNKNOWN"));
    },
  );

  test("reads no further back than the newest checkpoint", async () => {
    const { deps } = await made("abcdecfg");
    const read: number[] = [];
    const store = between(deps.store, {
      records: (records) => {
        read.push(...records.map(({ seq }) => seq));
        return records;
      },
    });
    const journal = await openJournal({ ...deps, store }, "s");
    expect(read).toEqual([6, 7, 8]);
    expect(brief(journal.opened.tail)).toEqual(["6:checkpoint-kept", "7:user-said", "8:user-said"]);
  });

  test("reads from the beginning when the newest checkpoint is damaged or its body was dropped", async () => {
    const { deps } = await made("abcdecfg");
    const store = between(deps.store, {
      records: (records) => records.map((record) => (record.seq === 6 ? { ...record, salt: "x" } : record)),
    });
    const journal = await openJournal({ ...deps, store }, "s");
    expect(journal.opened.tail.length).toBe(8);
    expect(brief(journal.opened.tail)[5]).toBe("6:damaged header-altered");
    await dropBodies(deps.store, journal, [6], "asked for");
    await journal.close();
    const again = await openJournal(deps, "s");
    expect(brief(again.opened.tail).slice(0, 6)).toEqual([
      "1:user-said",
      "2:user-said",
      "3:checkpoint-kept",
      "4:user-said",
      "5:user-said",
      "6:dropped",
    ]);
  });

  test("refuses when acknowledged records are gone from the end, before it writes anything", async () => {
    for (const story of ["abc", "abcde", "a"]) {
      const { deps } = await made(story);
      const batches: WriteBatch[] = [];
      const store = between(deps.store, {
        records: (records) => records.filter(({ seq }) => seq < story.length),
        after: (batch) => void batches.push(batch),
      });
      await expect(openJournal({ ...deps, store }, "s")).rejects.toEqual(code("SESSION_DAMAGED"));
      expect(batches).toEqual([]);
    }
  });

  test("[K31] names what is damaged in the tail and goes on behind it", async () => {
    const { deps } = await made("abde");
    const store = between(deps.store, {
      records: (records) =>
        records.flatMap((record) => (record.seq === 2 ? [] : record.seq === 3 ? { ...record, body: "{}" } : record)),
    });
    const journal = await openJournal({ ...deps, store }, "s");
    expect(brief(journal.opened.tail)).toEqual([
      "1:user-said",
      "2:damaged missing",
      "3:damaged body-altered",
      "4:user-said",
    ]);
    expect((await journal.append(said("f"))).first).toBe(5);
  });

  test("refuses a record of a newer version in the tail, before it writes anything", async () => {
    const { deps } = await made("ab");
    const batches: WriteBatch[] = [];
    const store = between(deps.store, {
      after: (batch) => void batches.push(batch),
      records: (records) =>
        records.map((record) =>
          record.seq === 2
            ? seal({ seq: 1, hash: record.prev }, { ...record, body: record.body ?? "", version: 9 })
            : record,
        ),
    });
    await expect(openJournal({ ...deps, store }, "s")).rejects.toEqual(code("RECORD_TOO_NEW"));
    expect(batches).toEqual([]);
  });

  test("sees what came between its first look and its lease", async () => {
    const { deps, disk } = await made("ab");
    let once = true;
    const store = between(deps.store, {
      before: async (batch) => {
        if (batch.kind !== "lease" || !once) return undefined;
        once = false;
        const quick = await openJournal(memoryDeps(disk), "s");
        await quick.append(said("meanwhile"));
        await quick.close();
        return undefined;
      },
    });
    const journal = await openJournal({ ...deps, store }, "s");
    expect(journal.opened.tail.length).toBe(3);
    expect((await journal.append(said("next"))).first).toBe(4);
  });

  test("gives the lease back when what came meanwhile cannot be continued", async () => {
    const { deps, disk } = await made("ab");
    let leased = false;
    const store = between(deps.store, {
      after: (batch) => {
        if (batch.kind === "lease") leased = true;
      },
      before: async (batch) => {
        if (batch.kind !== "lease") return undefined;
        const quick = await openJournal(memoryDeps(disk), "s");
        await quick.append(said("meanwhile"));
        await quick.close();
        return undefined;
      },
      records: (records) => {
        if (leased) throw ioError();
        return records;
      },
    });
    await expect(openJournal({ ...deps, store }, "s")).rejects.toEqual(code("STORE_IO"));
    await openJournal(deps, "s");
  });
});

describe("[JOURNAL-14] [R10] [K46] one writer", () => {
  test("a second writer is refused and told who holds the session, readers are not", async () => {
    const { deps, disk } = await made("ab");
    const first = await openJournal(deps, "s");
    for (const other of [deps, memoryDeps(disk)]) {
      const failure = await openJournal(other, "s").catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: "SESSION_BUSY",
        details: { writer: deps.store.owner, until: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string },
      });
    }
    await first.append(said("c"));
  });

  test("a holder known to be dead loses the session at once, a silent one when its lease ends", async () => {
    const { deps, disk } = await made("a");
    await openJournal(deps, "s", { leaseMs: 1_000 });
    const heirs = memoryDeps(disk, new FixedClock("2026-01-01T00:00:00.999Z"));
    await expect(openJournal(heirs, "s")).rejects.toEqual(code("SESSION_BUSY"));
    heirs.clock.advance(1);
    const heir = await openJournal(heirs, "s");
    expect(heir.opened.previousWriter).toBe("expired");
    await heirs.store.close();
    const next = await openJournal(memoryDeps(disk), "s");
    expect(next.opened.previousWriter).toBe("died");
    expect(next.epoch).toBe(4);
  });
});

test("[JOURNAL-15] a fork from before the newest checkpoint opens from the newest it shares, not from the beginning", async () => {
  const deps = memoryDeps();
  const journal = await openJournal(deps, "s");
  const kept = { kind: "checkpoint-kept", openCalls: [] } as const;
  for (let round = 0; round < 5; round += 1)
    await journal.append([...Array.from({ length: 19 }, () => said("x")), kept]);
  await forkSession(deps, "s", { as: "child", after: 70 });
  const { opened } = await openJournal(deps, "child");
  expect(opened.tail.map(({ seq }) => seq)).toEqual(Array.from({ length: 11 }, (_, nth) => 60 + nth));
  await forkSession(deps, "s", { as: "first", after: 5 });
  expect((await openJournal(deps, "first")).opened.tail).toHaveLength(5);
});

describe("[JOURNAL-15] [R09] a fork whose inherited records are not all there", () => {
  test("is refused, whichever of them is missing", async () => {
    const { deps } = await made("abcd".replace("c", "x"));
    await forkSession(deps, "s", { as: "child", after: 3 });
    const child = await openJournal(deps, "child");
    await child.append(said("own"));
    await child.close();
    for (const seq of [1, 2, 3]) {
      const store = between(deps.store, { records: (records) => records.filter((record) => record.seq !== seq) });
      await expect(openJournal({ ...deps, store }, "child")).rejects.toEqual(code("FORK_INCOMPLETE"));
    }
    const own = between(deps.store, { records: (records) => records.filter((record) => record.seq !== 4) });
    await expect(openJournal({ ...deps, store: own }, "child")).rejects.toEqual(code("SESSION_DAMAGED"));
    await openJournal(deps, "child");
  });

  test("is refused also when it has a checkpoint of its own since, if an end of what it shares is gone", async () => {
    const { deps } = await made("abdeab");
    await forkSession(deps, "s", { as: "child", after: 4 });
    const child = await openJournal(deps, "child");
    await child.append([said("own"), { kind: "checkpoint-kept", openCalls: [] }]);
    await child.close();
    await forkSession(deps, "child", { as: "grandchild" });
    const grandchild = await openJournal(deps, "grandchild");
    await grandchild.append({ kind: "checkpoint-kept", openCalls: [] });
    await grandchild.close();
    const without = (...gone: readonly number[]) =>
      between(deps.store, { records: (records) => records.filter(({ seq }) => !gone.includes(seq)) });
    for (const gone of [[1], [4], [1, 2, 3, 4], [3, 4]]) {
      await expect(openJournal({ ...deps, store: without(...gone) }, "child")).rejects.toEqual(code("FORK_INCOMPLETE"));
      await expect(openJournal({ ...deps, store: without(...gone) }, "grandchild")).rejects.toEqual(
        code("FORK_INCOMPLETE"),
      );
    }
    await expect(openJournal({ ...deps, store: without(5, 6) }, "grandchild")).rejects.toEqual(code("FORK_INCOMPLETE"));
    for (const id of ["child", "grandchild"]) await (await openJournal(deps, id)).close();
  });

  test("opens when retention has forgotten what it shared", async () => {
    const { deps } = await made("abdeab");
    await forkSession(deps, "s", { as: "child", after: 4 });
    const child = await openJournal(deps, "child");
    await child.append({ kind: "checkpoint-kept", openCalls: [] });
    expect(await retain(deps, child, { records: 2 })).toMatchObject({ forgotten: 4 });
    await child.close();
    await (await openJournal(deps, "child")).close();
  });

  test.each([-1, 0.5, 5, Number.NaN, "2"])("cannot start after %s", async (after) => {
    const { deps } = await made("abde");
    await expect(forkSession(deps, "s", { as: "child", after: after as number })).rejects.toEqual(
      code("FORK_POINT_UNKNOWN"),
    );
  });

  test("needs an origin, a free name and a point whose header is proven", async () => {
    const { deps } = await made("abde");
    await expect(forkSession(deps, "nobody", { as: "child" })).rejects.toEqual(code("SESSION_UNKNOWN"));
    await expect(forkSession(deps, "s", { as: "s" })).rejects.toEqual(code("SESSION_EXISTS"));
    await expect(forkSession(deps, "s", { as: "no/name" })).rejects.toEqual(code("SESSION_BAD_ID"));
    const store = between(deps.store, { records: (records) => records.map((record) => ({ ...record, salt: "x" })) });
    await expect(forkSession({ ...deps, store }, "s", { as: "child", after: 2 })).rejects.toEqual(
      code("FORK_POINT_UNKNOWN"),
    );
    await forkSession(deps, "s", { as: "empty", after: 0 });
    expect((await openJournal(deps, "empty")).head.seq).toBe(0);
  });
});
