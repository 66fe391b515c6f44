import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { said } from "../support/stores.ts";

const folder = scratchFolder();

test("[R09] a fork whose inherited records are incomplete is refused, and its origin tells what it lost", async () => {
  const path = join(folder, "store.db");
  const holdfast = await holdfastAt(path);
  const origin = await holdfast.open("origin");
  await origin.append([said("2"), said("3"), said("4")]);
  await origin.close();
  await (await holdfast.fork("origin", { as: "child", after: 3 })).close();
  await holdfast.close();
  const database = new DatabaseSync(path);
  database.exec("DELETE FROM records WHERE key & 4294967295 = 2 AND key >> 32 = 1");
  database.close();
  const again = await holdfastAt(path);
  await expect(again.open("child")).rejects.toMatchObject({ code: "FORK_INCOMPLETE", details: { missing: 2 } });
  const survivor = await again.open("origin");
  expect(survivor.recovered.damaged).toEqual([2]);
  await survivor.close();
  await again.close();
});

test("[K45] what one process saved, another opens and reads: records, content and a fork", async () => {
  const path = join(folder, "handed-on", "store.db");
  const holdfast = await holdfastAt(path);
  const session = await holdfast.open("s");
  const bytes = Buffer.alloc(300_000, "content");
  const staged = await session.journal.stageBlob(bytes);
  await session.append({ ...said("with content"), blobs: [staged.ref] }, { staged: [staged] });
  await session.close();
  await (await holdfast.fork("s", { as: "t" })).close();
  await holdfast.close();
  const { startChild } = await import("../support/children.ts");
  const child = startChild(`
    import { createHoldfast } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
    const session = await holdfast.open("t");
    let size = 0;
    for await (const entry of session.read())
      for (const { name } of entry.blobs ?? []) for await (const piece of session.journal.readBlob(name)) size += piece.length;
    say("read " + size);
    await session.append({ kind: "user-said", text: "from the other process" });
    await session.close();
    await holdfast.close();
  `);
  expect(await child.said("read")).toBe(`read ${bytes.length}`);
  expect(await child.ended()).toBe(0);
  const again = await holdfastAt(path);
  expect(await storyOf(await again.open("t"))).toEqual([
    "session-created",
    "with content",
    "forked",
    "forked",
    "from the other process",
  ]);
  expect(await storyOf(await again.open("s"))).toEqual(["session-created", "with content"]);
  await again.close();
});
