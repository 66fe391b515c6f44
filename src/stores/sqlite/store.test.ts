import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { testTogether } from "../../../test/support/together.ts";
import type { AppendBatch, Store } from "../../contracts/store.ts";
import { genesisOf, type Link, seal } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import { HandSetClock } from "../../testing/store-laws/context.ts";
import { openSqlite } from "./open.ts";

const session = toSessionId("two-writers");
const folder = scratchFolder();
const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

const appendAfter = (after: Link, epoch: number): AppendBatch => {
  const record = seal(after, { kind: "user-said", at: "2026-01-01T00:00:00.000Z", version: 1, salt: "00", body: "{}" });
  return { kind: "append", session, epoch, after, records: [record], blobs: [], references: [], leaseMs: 10 };
};
const tipOf = (batch: AppendBatch): Link => batch.records.at(-1) as Link;

testTogether(
  "[STORE-5] a holder that remembers the row as it left it is refused once another store has taken over",
  async () => {
    const [slow, quick] = [await openSqlite(join(folder, "s.db")), await openSqlite(join(folder, "s.db"))];
    stores.push(slow, quick);
    await slow.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis: genesisOf(session) });
    await slow.commit({ kind: "lease", session, owner: slow.owner, leaseMs: 10 });
    const first = appendAfter(genesisOf(session), 1);
    expect(await slow.commit(first)).toMatchObject({ ok: true, last: 1 });

    await quick.commit({ kind: "lease", session, owner: quick.owner, leaseMs: 10, over: 1 });
    const late = appendAfter(tipOf(first), 1);
    expect(await slow.commit(late)).toEqual({ ok: false, conflict: { kind: "lease-lost", epoch: 2 } });

    const rightful = appendAfter(tipOf(first), 2);
    expect(await quick.commit(rightful)).toMatchObject({ ok: true, last: 2 });
    expect(await slow.commit({ kind: "release", session, epoch: 1 })).toMatchObject({ ok: false });
    const row = await slow.reading((read) => read.session(session));
    expect(row).toMatchObject({ epoch: 2, owner: quick.owner, head: { seq: 2, hash: tipOf(rightful).hash } });
  },
);

test.each(["lease", "renew", "append"] as const)(
  "[STORE-31] %s: what waited for somebody else's transaction runs from when it is written",
  async (kind) => {
    const path = join(folder, `${kind}.db`);
    const clock = new HandSetClock();
    const store = await openSqlite(path, { clock });
    stores.push(store);
    await store.commit({ kind: "create", session, at: "2026-01-01T00:00:00.000Z", genesis: genesisOf(session) });
    const lease = { kind: "lease", session, owner: store.owner, leaseMs: 10 } as const;
    if (kind !== "lease") await store.commit(lease);

    const stopped = new DatabaseSync(path);
    stopped.exec("BEGIN IMMEDIATE");
    const asked = store.commit(
      kind === "lease"
        ? lease
        : kind === "renew"
          ? { kind, session, epoch: 1, leaseMs: 10 }
          : appendAfter(genesisOf(session), 1),
    );
    await pause(20); // it has tried, and tries again
    clock.pass(60_000);
    stopped.exec("ROLLBACK");
    stopped.close();
    expect(await asked).toMatchObject({ ok: true });
    const row = await store.reading((read) => read.session(session));
    expect(row?.leaseUntil).toBe(clock.now() + 10);
  },
);
