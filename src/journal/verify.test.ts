import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createHoldfast } from "../index.ts";
import { sqlite } from "../stores/sqlite/entry.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-verify-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("content that a record names and the store has forgotten is a fault: the next sweep would remove it", async () => {
  const path = join(folder, "sessions.db");
  const holdfast = await createHoldfast({ store: sqlite(path) });
  const session = await holdfast.open("one");
  const staged = await session.journal.stageBlob(Buffer.from("evidence"));
  await session.append({ kind: "user-said", text: "see", blobs: [staged.ref] }, { staged: [staged] });
  expect(await holdfast.verify()).toMatchObject({ ok: true, blobs: { checked: 1, faults: [] } });
  await session.close();
  await holdfast.close();

  const raw = new DatabaseSync(path);
  raw.exec("DELETE FROM blob_references");
  raw.close();
  const again = await createHoldfast({ store: sqlite(path) });
  expect(await again.verify()).toMatchObject({
    ok: false,
    blobs: { faults: [{ name: staged.ref.name, fault: "unprotected" }] },
  });
  await again.close();
});
