import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../../test/support/places.ts";
import { MemoryDisk, memoryStore, openSqlite } from "../../test/support/stores.ts";
import { SystemClock } from "../base/clock.ts";
import { SystemRandom } from "../base/random.ts";
import { openJournal } from "./open.ts";

const folder = scratchFolder();
const STORES = {
  memory: async () => memoryStore({ disk: new MemoryDisk() }),
  sqlite: () => openSqlite(join(folder, "store.db")),
};

test.each([
  ["memory", 5],
  ["memory", 70_000],
  ["sqlite", 5],
  ["sqlite", 70_000],
  ["sqlite", 3_000_000],
] as const)("[BLOB-13] in %s, content of %i bytes is named with its size or not at all", async (kind, size) => {
  await using store = Object.assign(await STORES[kind](), {
    async [Symbol.asyncDispose](this: { close(): Promise<void> }) {
      await this.close();
    },
  });
  const journal = await openJournal({ store, clock: new SystemClock(), random: new SystemRandom() }, `s${size}`);
  const blob = await journal.stageBlob(Buffer.alloc(size, 7));
  const naming = (wrong: number) => ({ kind: "user-said", text: "", blobs: [{ ...blob.ref, size: wrong }] }) as const;
  for (const wrong of [0, size - 1, size + 1, 2 ** 53 - 1])
    await expect(journal.append(naming(wrong), { staged: [blob] })).rejects.toMatchObject({ code: "RECORD_MALFORMED" });
  const forged = { ...blob, ref: { ...blob.ref, size: size + 1 } };
  await expect(journal.append(naming(size + 1), { staged: [forged] })).rejects.toMatchObject({
    code: expect.stringMatching(/^BLOB_/),
  });
  expect(journal.head.seq).toBe(0);
  await journal.append(naming(size), { staged: [blob] });
  for (const wrong of [0, size + 1])
    await expect(journal.append(naming(wrong))).rejects.toMatchObject({ code: "BLOB_MISSING" });
  await journal.append(naming(size));
  expect(journal.head.seq).toBe(2);
  await journal.close();
});
