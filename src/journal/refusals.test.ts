import { describe, expect, test } from "vitest";
import { between, brief, collect, ioError, memoryDeps, memoryStore, said } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import type { Conflict, WriteBatch } from "../contracts/store.ts";
import { HoldfastError } from "../base/errors.ts";
import { toSessionId } from "../records/ids.ts";
import { importBundle } from "./bundle/import.ts";
import { writeBundle } from "./bundle/write.ts";
import { deleteIf, deleteSession } from "./delete.ts";
import { forkSession } from "./fork.ts";
import { type Fold, NO_FOLD } from "./seal-batch.ts";
import { openJournal } from "./open.ts";
import { rowOf } from "./read.ts";
import { sweep, sweepForgotten } from "./sweep.ts";
import { sessionRows, verify } from "./verify.ts";

/** A store that refuses one kind of batch, as it does when another process was quicker. */
function refusing(kind: WriteBatch["kind"], conflict: Conflict) {
  const { store, ...deps } = memoryDeps();
  let refuses = false;
  const meddled = between(store, {
    before: (batch) => (refuses && batch.kind === kind ? { ok: false, conflict } : undefined),
  });
  return { deps: { ...deps, store: meddled }, refuse: () => (refuses = true) };
}

describe("another process was quicker", () => {
  test("[JOURNAL-14] a session that was deleted between the look and the lease is unknown", async () => {
    const { deps, refuse } = refusing("lease", { kind: "session-unknown" });
    refuse();
    await expect(openJournal(deps, "s")).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
  });

  test("[JOURNAL-14] a session that turns out damaged when it is made is told as that", async () => {
    const { deps, refuse } = refusing("create", { kind: "session-damaged", detail: "its row is gone" });
    refuse();
    await expect(openJournal(deps, "s")).rejects.toMatchObject({ code: "SESSION_DAMAGED" });
  });

  test("[JOURNAL-15] a point that was cut off between the look and the fork cannot be forked from", async () => {
    const { deps, refuse } = refusing("fork", { kind: "link-unknown" });
    const journal = await openJournal(deps, "s");
    await journal.append(said("one"));
    refuse();
    await expect(forkSession(deps, "s", { as: "t" })).rejects.toMatchObject({ code: "FORK_POINT_UNKNOWN" });
    await journal.close();
  });
});

describe("a store that refuses in the middle of something larger", () => {
  const bundleOf = async () => {
    const deps = memoryDeps();
    const journal = await openJournal(deps, "s");
    for (let nth = 0; nth < 3; nth += 1) await journal.append(said(`${nth}`));
    await journal.close();
    const row = await rowOf(deps.store, toSessionId("s"));
    const parts = { exportedAt: "then", content: [], hidden: new Set<number>(), async *files() {} };
    const pieces = await collect(writeBundle(deps.store, row, parts));
    return () => pieces;
  };

  test("[JOURNAL-14] a session that somebody took between the lease and its deletion is not deleted, and that is told", async () => {
    const { deps, refuse } = refusing("delete", { kind: "lease-lost", epoch: 9 });
    await (await openJournal(deps, "s")).close();
    const { head } = await rowOf(deps.store, toSessionId("s"));
    refuse();
    await expect(deleteSession(deps, "s")).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(await rowOf(deps.store, toSessionId("s"))).toMatchObject({ id: "s", head });
  });

  test("[JOURNAL-24] a lease that cannot be given back after a failure hides neither the failure nor itself", async () => {
    const { store, ...rest } = memoryDeps();
    await (await openJournal({ ...rest, store }, "s")).close();
    const before = (batch: WriteBatch) => {
      if (batch.kind === "release") throw ioError();
      return undefined;
    };
    const stuck = { ...rest, store: between(store, { before }) };
    const fails = (failure: Error) => () => {
      throw failure;
    };
    const tries = [
      (failure: Error) => openJournal(stuck, "s", { fold: { ...NO_FOLD, start: fails(failure) } }),
      (failure: Error) => deleteIf(stuck, "s", async () => fails(failure)()),
    ];
    for (const attempt of tries) {
      const ours = new HoldfastError("SESSION_DAMAGED", { session: "s" });
      const told = { errors: [ours, expect.objectContaining({ code: "STORE_IO" })] };
      await expect(attempt(ours)).rejects.toMatchObject({
        code: "SESSION_DAMAGED",
        details: ours.details,
        cause: told,
      });
      const theirs = new Error("unplugged");
      await expect(attempt(theirs)).rejects.toMatchObject({ errors: [theirs, { code: "STORE_IO" }] });
    }
    await expect(deleteIf(stuck, "s", async () => false)).rejects.toMatchObject({ code: "STORE_IO" });
  });

  test("[JOURNAL-26] a lease whose taking or giving back failed keeps its own process from nothing, and is otherwise held", async () => {
    const { store, ...rest } = memoryDeps();
    let fails: WriteBatch["kind"] | undefined = "lease";
    const fail = ({ kind }: WriteBatch) => {
      if (kind !== fails) return;
      fails = undefined;
      throw ioError();
    };
    const deps = { ...rest, store: between(store, { after: fail }) };
    await expect(openJournal(deps, "s")).rejects.toMatchObject({ code: "STORE_IO" }); // taken, and nobody was told
    const journal = await openJournal(deps, "s");
    await expect(openJournal(deps, "s")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    const stuck = { ...rest, store: between(store, { before: (batch) => (fail(batch), undefined) }) };
    const other = await openJournal(stuck, "t");
    fails = "release";
    await expect(other.close()).rejects.toMatchObject({ code: "STORE_IO" });
    expect((await rowOf(store, toSessionId("t"))).owner).toBe(store.owner);
    const both = await Promise.allSettled([openJournal(deps, "t"), openJournal(stuck, "t")]);
    expect(both.filter(({ status }) => status === "fulfilled").length).toBeLessThan(2);
    for (const one of both) if (one.status === "fulfilled") await one.value.close();
    await expect(journal.append(said("goes on"))).resolves.toMatchObject({ repeated: false });
    await journal.close();
    const again = await openJournal(stuck, "t");
    fails = "release";
    await expect(again.close()).rejects.toMatchObject({ code: "STORE_IO" });
    await deleteSession(deps, "t");
    await (await openJournal(deps, "t")).close();
  });

  test("[JOURNAL-26] what an import could not take away again is removed by the next one, and its own failure is told", async () => {
    const pieces = await bundleOf();
    const { store, ...rest } = memoryDeps();
    let isBroken = true;
    const before = ({ kind }: WriteBatch) => {
      if (isBroken && ["rename", "delete"].includes(kind)) throw ioError();
      return undefined;
    };
    const deps = { ...rest, store: between(store, { before }) };
    await expect(importBundle(deps, pieces)).rejects.toMatchObject({
      code: "STORE_IO",
      cause: { errors: [{ code: "STORE_IO" }, { code: "STORE_IO" }] },
    });
    isBroken = false;
    await importBundle(deps, pieces, { as: "t" });
    expect((await collect(sessionRows(store))).map(({ id }) => id)).toEqual(["t"]);
  });

  test("[JOURNAL-24] whoever fails to delete a session keeps nobody from opening it", async () => {
    const { store, ...rest } = memoryDeps();
    await (await openJournal({ ...rest, store }, "s")).close();
    const before = (batch: WriteBatch) => {
      if (batch.kind === "delete") throw ioError();
      return undefined;
    };
    const stuck = { ...rest, store: between(store, { before }) };
    await expect(deleteSession(stuck, "s")).rejects.toMatchObject({ code: "STORE_IO" });
    await (await openJournal({ ...rest, store }, "s")).close();
  });

  test("[JOURNAL-17] a sweep over a damaged row removes nothing and names it; by the way it is passed over, and nothing else is", async () => {
    const { deps, refuse } = refusing("sweep", { kind: "session-damaged", detail: "the row of session s is damaged" });
    refuse();
    await expect(sweep(deps)).rejects.toMatchObject({
      code: "SESSION_DAMAGED",
      details: { detail: expect.stringContaining("session s") },
    });
    await sweepForgotten(deps); // by the way it is left to somebody who looks
    const other = refusing("sweep", { kind: "session-unknown" });
    other.refuse();
    await expect(sweepForgotten(other.deps)).rejects.toMatchObject({ code: "SESSION_UNKNOWN" });
  });

  test.each<readonly [WriteBatch["kind"], Conflict, string]>([
    ["create", { kind: "session-exists" }, "SESSION_EXISTS"],
    ["lease", { kind: "lease-held", owner: "another" as never, epoch: 1, until: 9 }, "SESSION_BUSY"],
    ["append", { kind: "lease-lost", epoch: 9 }, "LEASE_LOST"],
  ])("[BUNDLE-4] a bundle whose %s is refused is not taken in, and leaves no record", async (kind, conflict, code) => {
    const bundle = await bundleOf();
    const { deps, refuse } = refusing(kind, conflict);
    refuse();
    await expect(importBundle(deps, bundle, { as: "t" })).rejects.toMatchObject({ code });
    const row = await deps.store.reading((read) => read.session(toSessionId("t")));
    expect(row === undefined || "damaged" in row ? 0 : row.head.seq).toBe(0);
  });
});

describe("content that cannot be looked at", () => {
  test.each([
    ["unreadable", () => ioError()],
    ["corrupt", () => new HoldfastError("BLOB_CORRUPT", {})],
    ["missing", () => new HoldfastError("BLOB_MISSING", {})],
  ] as const)("[JOURNAL-18] is told as %s, and the rest is examined", async (fault, thrown) => {
    const { store, ...deps } = memoryDeps();
    const journal = await openJournal({ ...deps, store }, "s");
    const staged = await journal.stageBlob(Buffer.from("content"));
    await journal.append({ ...said("named"), blobs: [staged.ref] }, { staged: [staged] });
    await journal.append(said("after"));
    const meddled = between(store, {
      smallBlob: () => {
        throw thrown();
      },
    });
    const report = await verify(meddled);
    expect(report).toMatchObject({ ok: false, blobs: { checked: 1, faults: [{ name: staged.ref.name, fault }] } });
    expect(report.sessions).toMatchObject([{ session: "s", records: 2, damaged: [] }]);
    const broken = between(store, {
      smallBlob: () => {
        throw new TypeError("a bug");
      },
    });
    await expect(verify(broken)).rejects.toThrow("a bug");
    await journal.close();
  });
});

test("[JOURNAL-5] a clock that tells no time gives no lease: one that never ends would lock the session for good", async () => {
  const clock = new FixedClock();
  const deps = { ...memoryDeps(), store: memoryStore({ clock: Object.assign(clock, { now: () => Number.NaN }) }) };
  await expect(openJournal(deps, "s")).rejects.toMatchObject({ code: "BAD_OPTION", details: { option: "clock" } });
});

describe("an append of which nobody knows whether it was written", () => {
  const counting: Fold<number> = { start: (tail) => tail.length, step: (now) => now + 1, due: () => undefined };

  /** Its store writes the next append and then fails. */
  async function unclear(records?: Parameters<typeof between>[1]["records"]) {
    const { store, ...deps } = memoryDeps();
    let fails = false;
    const meddled = between(store, {
      after: (batch) => {
        if (!fails || batch.kind !== "append") return;
        fails = false;
        throw ioError();
      },
      ...(records === undefined ? {} : { records }),
    });
    const journal = await openJournal({ ...deps, store: meddled }, "s", { fold: counting });
    await journal.append(said("one"));
    fails = true;
    return journal;
  }

  test("[JOURNAL-9] a checkpoint in it counts, with what its caller noted", async () => {
    const journal = await unclear();
    const note = { checkpoint: { state: { secret: "none", n: 1 } } };
    await expect(journal.append(said("two"), note)).rejects.toMatchObject({ code: "STORE_IO" });
    await journal.append(said("three"));
    expect(brief(await collect(journal.read()))).toEqual([
      "1:user-said",
      "2:user-said",
      "3:checkpoint-kept",
      "4:user-said",
    ]);
    expect((await collect(journal.read()))[2]).toMatchObject({ state: { secret: "none", n: 1 }, openCalls: [] });
    expect(journal.folded).toBe(4);
    await journal.close();
  });

  test("[JOURNAL-9] what of it was damaged meanwhile is passed over, and what comes after hangs on it all the same", async () => {
    const journal = await unclear((records) =>
      records.map((record) => (record.seq === 2 ? { ...record, salt: "x" } : record)),
    );
    await expect(journal.append([said("two"), said("three")])).rejects.toMatchObject({ code: "STORE_IO" });
    await journal.append(said("four"));
    expect(brief(await collect(journal.read()))).toEqual([
      "1:user-said",
      "2:damaged header-altered",
      "3:user-said",
      "4:user-said",
    ]);
    expect(journal.folded).toBe(3);
    await journal.close();
  });
});
