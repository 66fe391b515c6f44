import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { SeededRandom } from "../../base/random.ts";
import type { Store, Swept } from "../../contracts/store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import type { SealedRecord } from "../../records/chain.ts";
import {
  appendOf,
  applied,
  begin,
  forkOf,
  linkOf,
  type Pen,
  recordsOf,
  rowOf,
  sealed,
  take,
  writeWithBlobs,
} from "../pen.ts";

export async function changeEverything(pen: Pen): Promise<void> {
  const { store, session, epoch } = pen;
  const [first] = await recordsOf(store, "session");
  await writeWithBlobs(pen, '"three"', new Uint8Array([2]));
  await begin(store, "another");
  const batch = appendOf(pen, sealed(pen.head, '"four"'), { anchor: linkOf(first as SealedRecord) });
  applied(await store.commit(batch));
  pen.head = linkOf(batch.records[0] as SealedRecord);
  applied(await store.commit({ kind: "drop", session, epoch, seqs: [2], reason: "r" }));
  await sweepAll(store);
  applied(await store.commit({ kind: "drop", session, epoch, seqs: [], reason: "r" }));
}

export async function sweepAll(store: Store, limit = 100): Promise<Omit<Swept, "more">> {
  const total = { records: 0, blobs: 0, bytes: 0 };
  for (;;) {
    const { records, blobs, bytes, more } = applied(await store.commit({ kind: "sweep", limit, candidates: [] }));
    total.records += records;
    total.blobs += blobs;
    total.bytes += bytes;
    if (!more) return total;
  }
}

/** All that can be read of a store through its contract. */
export async function everything(store: Store) {
  const sessions = await store.reading((read) => read.sessions("", 1_000));
  const records: (readonly SealedRecord[])[] = [];
  for (const row of sessions) if (!("damaged" in row)) records.push(await recordsOf(store, row.id, 50));
  const references = await store.reading((read) => read.references("", 1_000));
  const blobs = [];
  for (const { name } of references) {
    const bytes = await store.reading((read) => read.smallBlob(name));
    blobs.push(bytes === undefined ? "outside" : Buffer.from(bytes).toString("hex"));
  }
  return { sessions, records, references, blobs };
}

export async function sweepRandomly(store: Store, random: SeededRandom, prefix: string): Promise<void> {
  const pens = [await begin(store, `${prefix}-first`)];
  for (let step = 0; step < 60; step += 1) {
    const pen = random.pick(pens);
    const action = random.below(10);
    if (action < 5) {
      const byte = random.below(12);
      await writeWithBlobs(pen, `{"at":"${prefix}/${step}","names":${byte}}`, new Uint8Array([byte]));
    } else if (action < 7) {
      const points = [(await rowOf(store, pen.session)).anchor, ...(await recordsOf(store, pen.session))];
      const child = `${prefix}-${step}`;
      applied(await store.commit(forkOf(pen.session, linkOf(random.pick(points)), child)));
      pens.push(await take(store, child));
    } else if (action === 7) {
      const records = await recordsOf(store, pen.session);
      if (records.length === 0) continue;
      const anchor = linkOf(random.pick(records));
      applied(await store.commit(appendOf(pen, [], { anchor })));
    } else if (action === 8 && pens.length > 1) {
      applied(await store.commit({ kind: "delete", session: pen.session, epoch: pen.epoch }));
      pens.splice(pens.indexOf(pen), 1);
    } else {
      await sweepIsInvisible(store, 1 + random.below(5));
    }
  }
  await sweepIsInvisible(store, 3);
  strictEqual((await sweepAll(store)).records, 0);
}

async function sweepIsInvisible(store: Store, limit: number): Promise<void> {
  const before = await everything(store);
  await sweepAll(store, limit);
  const after = await everything(store);
  deepStrictEqual({ ...after, references: [], blobs: [] }, { ...before, references: [], blobs: [] });
  for (const { seq, body } of after.records.flat()) {
    const { names } = JSON.parse(body ?? "{}") as { readonly names: number };
    const content = await store.reading((read) => read.smallBlob(nameOfBytes(new Uint8Array([names]))));
    ok(content !== undefined, `the content that record ${seq} names is gone`);
  }
}
