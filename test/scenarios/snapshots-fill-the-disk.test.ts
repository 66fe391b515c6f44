import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
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
  const size = () =>
    Number(
      execFileSync("du", ["-sb", store, `${store}.blobs`], { encoding: "utf8" })
        .split("\n")
        .reduce((sum, line) => sum + Number(line.split("\t")[0] ?? 0), 0),
    );
  const content = (n: number) => `${n} `.repeat(20_000); // too large for a row: a file of its own among the blobs
  await run(({ files }) => files.writeText("f", content(0)));
  const round = async (from: number) => {
    for (let n = from; n < from + 40; n += 1) await run(({ files }) => files.writeText("f", content(n)));
    await session.checkpoint();
    await holdfast.sweep({ graceMs: 0, shrink: false });
    return size();
  };
  const first = await round(100);
  const second = await round(200);
  const third = await round(300);
  expect(third).toBeLessThan(1.5 * Math.max(first, second));
  await session.close();
  const rescued = readdirSync(on(".holdfast/workspace/rescue")).filter((name) => !name.endsWith(".note"));
  expect(rescued.length).toBeLessThanOrEqual(bounds.files);
  expect(readdirSync(on(".holdfast/workspace/tmp"))).toEqual([]);
});
