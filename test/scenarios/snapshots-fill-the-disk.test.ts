import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

// anomalyco/opencode#15977 (533 GB), cline/cline#1311 (500 GB in a day), openai/codex#29388 (102 GB from a 5.7 GB project).
test("[HOST-18] [K41] the disk a session uses is bounded by what it keeps, however many calls it commits", async () => {
  const at = await work({ checkpoints: { limit: 10 } });
  const bounds = { files: 20, bytes: 200_000, ageMs: 86_400_000 };
  await at.session.close();
  await at.holdfast.close();
  const workspace = { root: at.root, rescue: bounds };
  const { run, session, holdfast, on, store } = await work({ workspace, checkpoints: { limit: 10 } }, at);
  const size = () => bytesBelow(`${store}.blobs`);
  const content = (n: number) => `${n} `.repeat(20_000); // too large for a row: a file of its own among the blobs
  let n = 1_000;
  /** As long as the store needs to let go of anything, and once more. */
  const rounds = async () => {
    let most = 0;
    for (let round = 0; round < 40; round += 1) {
      n += 1;
      await run(({ files }) => files.writeText("f", content(n)));
      await session.checkpoint();
      await holdfast.sweep({ graceMs: 0, shrink: false });
      most = Math.max(most, size());
    }
    return most;
  };
  const first = await rounds();
  const second = await rounds();
  expect([first, second].every((bytes) => bytes < 60 * content(n).length)).toBe(true);
  expect(second).toBeLessThan(1.1 * first);
  await session.close();
  const rescued = readdirSync(on(".holdfast/workspace/rescue")).filter((name) => !name.endsWith(".note"));
  expect(rescued.length).toBeLessThanOrEqual(bounds.files);
  expect(readdirSync(on(".holdfast/workspace/tmp"))).toEqual([]);
});

function bytesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
