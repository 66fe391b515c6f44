import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { toSessionId } from "../../records/ids.ts";
import type { LawBook } from "../law.ts";
import { appendOf, applied, begin, expectBodies, forkOf, refused, rowOf, sealed, take, write } from "../pen.ts";
import type { StoreContext } from "./context.ts";
import { sweepAll } from "./sweeping.ts";

/** Sessions that go or get another name: what stays, and who may have the old one. */
export const names: LawBook<StoreContext> = [
  [
    "[STORE-17] a deleted session is gone and its name is free, while a fork keeps what it shares",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store, "origin");
      await write(pen, '"1"', '"2"');
      applied(await store.commit(forkOf(pen.session, pen.head, "child")));
      applied(await store.commit({ kind: "delete", session: pen.session, epoch: pen.epoch }));
      strictEqual(await store.reading((read) => read.session(pen.session)), undefined);
      await sweepAll(store);
      await expectBodies(store, "child", ['"1"', '"2"']);
      const young = await begin(store, "origin");
      await expectBodies(store, "origin", []);
      await write(young, '"new"');
      await expectBodies(store, "origin", ['"new"']);
      await store.close();
    },
  ],
  [
    "[STORE-40] a renamed session is the same under another name, its writer has let it go, and the old name is free",
    async ({ open }) => {
      const store = await open();
      const old = await begin(store, "old");
      await write(old, '"1"', '"2"');
      const { head, anchor, segments } = await rowOf(store, "old");
      const [session, to] = [old.session, toSessionId("new")];
      const { row } = applied(await store.commit({ kind: "rename", session, epoch: old.epoch, to }));
      deepStrictEqual(await rowOf(store, "new"), row);
      deepStrictEqual({ ...row, owner: null, leaseUntil: 0 }, row);
      deepStrictEqual({ ...row, head, anchor, segments }, row);
      strictEqual(await store.reading((read) => read.session(session)), undefined);
      refused(await store.commit(appendOf(old, sealed(old.head, '"stale"'))), "session-unknown");
      const pen = await take(store, "new");
      await write({ ...pen, head }, '"3"');
      await begin(store, "old");
      await sweepAll(store);
      await expectBodies(store, "new", ['"1"', '"2"', '"3"']);
      await expectBodies(store, "old", []);
      refused(await store.commit(appendOf(old, sealed(old.head, '"stale"'))), "lease-lost");
      await store.close();
    },
  ],
  [
    "[STORE-40] no session takes the name of another, and neither changes",
    async ({ open }) => {
      const store = await open();
      const [one, other] = [await begin(store, "one"), await begin(store, "other")];
      await write(one, '"1"');
      await write(other, '"2"');
      const before = [await rowOf(store, "one"), await rowOf(store, "other")];
      for (const to of [other.session, one.session])
        refused(await store.commit({ kind: "rename", session: one.session, epoch: one.epoch, to }), "session-exists");
      deepStrictEqual([await rowOf(store, "one"), await rowOf(store, "other")], before);
      await store.close();
    },
  ],
  [
    "[STORE-44] a session that is whole is never forgotten, whether or not somebody has it",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      await write(pen, '"1"');
      const { session, epoch } = pen;
      refused(await store.commit({ kind: "forget", session }), "session-sound");
      await write(pen, '"2"');
      applied(await store.commit({ kind: "release", session, epoch }));
      const before = await rowOf(store, "session");
      refused(await store.commit({ kind: "forget", session }), "session-sound");
      deepStrictEqual(await rowOf(store, "session"), before);
      await expectBodies(store, "session", ['"1"', '"2"']);
      await store.close();
    },
  ],
  [
    "[STORE-17] a writer of a deleted session is fenced off from a new one of the same name",
    async ({ open }) => {
      const store = await open();
      const old = await begin(store, "origin");
      applied(await store.commit({ kind: "delete", session: old.session, epoch: old.epoch }));
      await begin(store, "origin");
      refused(await store.commit(appendOf(old, sealed(old.head, '"stale"'))), "lease-lost");
      await expectBodies(store, "origin", []);
      await store.close();
    },
  ],
];
