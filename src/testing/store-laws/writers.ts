import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { genesisOf } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import type { LawBook } from "../law.ts";
import {
  AT,
  appendOf,
  applied,
  begin,
  expectBodies,
  forkOf,
  LEASE_MS,
  type Pen,
  refused,
  rowOf,
  sealed,
  take,
  write,
} from "../pen.ts";
import type { StoreContext } from "./context.ts";

/** Who may write, and who no longer may. */
export const writers: LawBook<StoreContext> = [
  [
    "[STORE-1] a session is created once, and a second creation changes nothing",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await write(pen, "{}");
      const before = await rowOf(store, "session");
      const again = { kind: "create", session: pen.session, at: AT, genesis: genesisOf(pen.session) } as const;
      refused(await store.commit(again), "session-exists");
      deepStrictEqual(await rowOf(store, "session"), before);
      await store.close();
    },
  ],
  [
    "[STORE-1] a new session is empty, hangs on its genesis and has no writer",
    async ({ open }) => {
      const store = await open();
      const session = toSessionId("new");
      const genesis = genesisOf(session);
      const { row } = applied(await store.commit({ kind: "create", session, at: AT, genesis }));
      const { segments, ...plain } = row;
      const lease = { epoch: 0, owner: null, leaseUntil: 0 };
      const chain = { head: genesis, anchor: genesis, checkpoint: 0 };
      deepStrictEqual(plain, { id: session, createdAt: AT, ...lease, ...chain });
      strictEqual(segments.length, 1);
      deepStrictEqual(await rowOf(store, "new"), row);
      await expectBodies(store, "new", []);
      await store.close();
    },
  ],
  [
    "[STORE-2] every write to a session that is not there is refused as unknown",
    async ({ open }) => {
      const store = await open();
      const session = toSessionId("nobody");
      const fence = { session, epoch: 1 };
      const pen: Pen = { store, session, epoch: 1, head: genesisOf(session) };
      refused(await store.commit({ kind: "lease", session, owner: store.owner, leaseMs: 9 }), "session-unknown");
      refused(await store.commit({ kind: "renew", ...fence, leaseMs: 9 }), "session-unknown");
      refused(await store.commit({ kind: "release", ...fence }), "session-unknown");
      refused(await store.commit(appendOf(pen, sealed(pen.head, "{}"))), "session-unknown");
      refused(await store.commit({ kind: "drop", ...fence, seqs: [1], reason: "r" }), "session-unknown");
      refused(await store.commit({ kind: "delete", ...fence }), "session-unknown");
      refused(await store.commit({ kind: "forget", session }), "session-unknown");
      refused(await store.commit({ kind: "rename", ...fence, to: toSessionId("other") }), "session-unknown");
      refused(await store.commit(forkOf(session, pen.head, "child")), "session-unknown");
      strictEqual(await store.reading((read) => read.session(session)), undefined);
      await store.close();
    },
  ],
  [
    "[STORE-3] a lease raises the epoch by one and tells how the previous writer ended",
    async ({ open, clock }) => {
      const store = await open();
      const session = toSessionId("s");
      applied(await store.commit({ kind: "create", session, at: AT, genesis: genesisOf(session) }));
      const lease = (more: { readonly over?: number } = {}) =>
        store.commit({ kind: "lease", session, owner: store.owner, leaseMs: 10, ...more });
      const first = applied(await lease());
      deepStrictEqual([first.row.epoch, first.previousWriter], [1, "none"]);
      applied(await store.commit({ kind: "release", session, epoch: 1 }));
      const second = applied(await lease());
      deepStrictEqual([second.row.epoch, second.previousWriter], [2, "closed"]);
      clock.pass(10);
      const third = applied(await lease());
      deepStrictEqual([third.row.epoch, third.previousWriter], [3, "expired"]);
      const fourth = applied(await lease({ over: 3 }));
      deepStrictEqual([fourth.row.epoch, fourth.previousWriter], [4, "died"]);
      deepStrictEqual(await rowOf(store, "s"), fourth.row);
      strictEqual(fourth.row.owner, store.owner);
      await store.close();
    },
  ],
  [
    "[STORE-4] a held lease is refused to everyone up to its last millisecond, also to its own holder, and says until when",
    async ({ open, clock, can }) => {
      const store = await open();
      const everybody = can.shared ? [store, await open()] : [store];
      const pen = await begin(store);
      const { leaseUntil } = await rowOf(store, "session");
      strictEqual(leaseUntil, clock.now() + LEASE_MS);
      clock.pass(LEASE_MS - 1);
      for (const asker of everybody) {
        const batch = {
          kind: "lease",
          session: pen.session,
          owner: asker.owner,
          leaseMs: LEASE_MS,
        } as const;
        const conflict = refused(await asker.commit(batch), "lease-held");
        deepStrictEqual(conflict, { kind: "lease-held", owner: store.owner, epoch: 1, until: leaseUntil });
        // Death is claimed for one holder, by its epoch: a claim about an earlier one takes nothing from this one.
        refused(await asker.commit({ ...batch, over: 0 }), "lease-held");
      }
      await write(pen, "{}");
      for (const each of everybody.toReversed()) await each.close();
    },
  ],
  [
    "[STORE-4] renewing and appending put off the expiry, and nothing else of the session",
    async ({ open, clock }) => {
      const store = await open();
      const pen = await begin(store);
      const before = await rowOf(store, "session");
      clock.pass(700);
      const renewed = applied(await store.commit({ kind: "renew", session: pen.session, epoch: 1, leaseMs: 5_000 }));
      strictEqual(renewed.until, clock.now() + 5_000);
      deepStrictEqual(await rowOf(store, "session"), { ...before, leaseUntil: renewed.until });
      clock.pass(700);
      const records = sealed(pen.head, "{}");
      applied(await store.commit(appendOf(pen, records, { leaseMs: 6_000 })));
      strictEqual((await rowOf(store, "session")).leaseUntil, clock.now() + 6_000);
      await store.close();
    },
  ],
  [
    "[STORE-5] a writer with another epoch is fenced off from every kind of write, and nothing changes",
    async ({ open, clock }) => {
      const store = await open();
      const old = await begin(store);
      await write(old, '{"by":"old"}');
      clock.pass(LEASE_MS);
      const young = await take(store, "session");
      const before = await rowOf(store, "session");
      for (const epoch of [old.epoch, young.epoch + 1]) {
        const fence = { session: old.session, epoch };
        const stale: Pen = { ...old, epoch };
        const conflict = refused(await store.commit(appendOf(stale, sealed(old.head, "{}"))), "lease-lost");
        deepStrictEqual(conflict, { kind: "lease-lost", epoch: young.epoch });
        refused(await store.commit({ kind: "renew", ...fence, leaseMs: 9e6 }), "lease-lost");
        refused(await store.commit({ kind: "release", ...fence }), "lease-lost");
        refused(await store.commit({ kind: "drop", ...fence, seqs: [1], reason: "r" }), "lease-lost");
        refused(await store.commit({ kind: "delete", ...fence }), "lease-lost");
        refused(await store.commit({ kind: "rename", ...fence, to: toSessionId("other") }), "lease-lost");
      }
      deepStrictEqual(await rowOf(store, "session"), before);
      await write(young, '{"by":"young"}');
      await expectBodies(store, "session", ['{"by":"old"}', '{"by":"young"}']);
      await store.close();
    },
  ],
  [
    "[STORE-5] whoever has released can write no more, although nobody came after",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      applied(await store.commit({ kind: "release", session: pen.session, epoch: pen.epoch }));
      refused(await store.commit(appendOf(pen, sealed(pen.head, "{}"))), "lease-lost");
      refused(await store.commit({ kind: "renew", session: pen.session, epoch: pen.epoch, leaseMs: 9 }), "lease-lost");
      const row = await rowOf(store, "session");
      deepStrictEqual([row.owner, row.leaseUntil, row.head.seq], [null, 0, 0]);
      await store.close();
    },
  ],
];
