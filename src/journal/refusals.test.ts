import { describe, expect, test } from "vitest";
import { between, brief, collect, ioError, memoryDeps, memoryStore, said } from "../../test/support/stores.ts";
import { FixedClock } from "../base/clock.ts";
import type { Conflict, WriteBatch } from "../contracts/store.ts";
import { forkSession } from "./fork.ts";
import type { Fold } from "./seal-batch.ts";
import { openJournal } from "./open.ts";

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
