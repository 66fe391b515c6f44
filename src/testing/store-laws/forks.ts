import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { genesisOf, type Link, type SealedRecord } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import type { LawBook } from "../law.ts";
import { appendOf, applied, begin, expectBodies, forkOf, linkOf, refused, rowOf, sealed, take, write } from "../pen.ts";
import type { StoreContext } from "./context.ts";

/** What a fork shares with its origin, and what an anchor lets it forget. */
export const forks: LawBook<StoreContext> = [
  [
    "[STORE-12] a fork shares the records up to its point, and neither side sees the other's later ones",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = await write(origin, '"1"', '"2"', '"3"', '"4"');
      const fork = (from: string, after: Link, as: string) => store.commit(forkOf(toSessionId(from), after, as));
      applied(await fork("origin", linkOf(records[1] as SealedRecord), "child"));
      const child = await take(store, "child");
      await write(child, '"c3"');
      await write(origin, '"5"');
      applied(await fork("child", child.head, "grandchild"));
      const grandchild = await take(store, "grandchild");
      await write(grandchild, '"g4"');
      await write(child, '"c4"');
      applied(await fork("grandchild", linkOf(records[0] as SealedRecord), "short"));
      applied(await fork("origin", genesisOf(origin.session), "bare"));
      await expectBodies(store, "origin", ['"1"', '"2"', '"3"', '"4"', '"5"']);
      await expectBodies(store, "child", ['"1"', '"2"', '"c3"', '"c4"']);
      await expectBodies(store, "grandchild", ['"1"', '"2"', '"c3"', '"g4"']);
      await expectBodies(store, "short", ['"1"']);
      await expectBodies(store, "bare", []);
      const row = await rowOf(store, "child");
      deepStrictEqual(
        (await store.reading((read) => read.records(row, { from: 2, to: 3, limit: 9, reverse: true }))).map(
          ({ body }) => body,
        ),
        ['"c3"', '"2"'],
      );
      await store.close();
    },
  ],
  [
    "[STORE-12] a fork needs a record of its origin to stand on and a name of its own",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const [first] = await write(origin, '"1"', '"2"');
      const at = (after: Link, as = "child") => store.commit(forkOf(origin.session, after, as));
      refused(await at({ seq: 1, hash: "0".repeat(64) }), "link-unknown");
      refused(await at({ seq: 3, hash: origin.head.hash }), "link-unknown");
      refused(await at({ seq: 0, hash: linkOf(first as SealedRecord).hash }), "link-unknown");
      refused(await at(origin.head, "origin"), "session-exists");
      strictEqual(await store.reading((read) => read.session(toSessionId("child"))), undefined);
      await store.close();
    },
  ],
  [
    "[STORE-12] a fork keeps a checkpoint only when it lies before the fork's point",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = sealed(origin.head, '"1"', '"2"', '"3"');
      applied(await store.commit(appendOf(origin, records, { checkpoint: 2 })));
      strictEqual((await rowOf(store, "origin")).checkpoint, 2);
      for (const [index, expected] of [0, 2, 2].entries()) {
        const after = linkOf(records[index] as SealedRecord);
        const { row } = applied(await store.commit(forkOf(origin.session, after, `child-${index}`)));
        strictEqual(row.checkpoint, expected);
      }
      await store.close();
    },
  ],
  [
    "[STORE-41] a fork has the first records it was given from the moment it is there, and the checkpoint it was told of",
    async ({ open }) => {
      const store = await open();
      const origin = await begin(store, "origin");
      const records = sealed(origin.head, '"1"', '"2"', '"3"');
      applied(await store.commit(appendOf(origin, records, { checkpoint: 3 })));
      const after = linkOf(records[1] as SealedRecord);
      const own = sealed(after, '"mine"', '"too"');
      const fork = { ...forkOf(origin.session, after, "child"), records: own, checkpoint: 2 };
      const { row } = applied(await store.commit(fork));
      deepStrictEqual([row.head, row.checkpoint], [linkOf(own[1] as SealedRecord), 2]);
      await expectBodies(store, "child", ['"1"', '"2"', '"mine"', '"too"']);
      await expectBodies(store, "origin", ['"1"', '"2"', '"3"']);
      await write(await take(store, "child"), '"goes on"');
      await expectBodies(store, "child", ['"1"', '"2"', '"mine"', '"too"', '"goes on"']);
      await store.close();
    },
  ],
  [
    "[STORE-13] an anchor makes the session forget everything up to it, and only a record of the session can be one",
    async ({ open }) => {
      const store = await open();
      const pen = await begin(store);
      const records = await write(pen, '"1"', '"2"', '"3"', '"4"');
      const anchor = linkOf(records[1] as SealedRecord);
      const cut = (link: Link) => store.commit(appendOf(pen, sealed(pen.head, '"cut"'), { anchor: link }));
      refused(await cut({ seq: 2, hash: "0".repeat(64) }), "link-unknown");
      refused(await cut({ seq: 9, hash: anchor.hash }), "link-unknown");
      strictEqual((await rowOf(store, "session")).head.seq, 4);
      applied(await cut(anchor));
      pen.head = (await rowOf(store, "session")).head;
      await expectBodies(store, "session", ['"3"', '"4"', '"cut"']);
      deepStrictEqual((await rowOf(store, "session")).anchor, anchor);
      refused(await cut(linkOf(records[0] as SealedRecord)), "link-unknown");
      const fork = (after: Link) => store.commit(forkOf(pen.session, after, "child"));
      refused(await fork(linkOf(records[0] as SealedRecord)), "link-unknown");
      applied(await fork(anchor));
      await expectBodies(store, "child", []);
      await store.close();
    },
  ],
];
