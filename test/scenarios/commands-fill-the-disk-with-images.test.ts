import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eachDriver, withCommands } from "../support/commands.ts";

// cline/cline#1311, openai/codex#29388, anomalyco/opencode#3176: a snapshot for every command, never given back: hundreds of
// gigabytes from a project of a few.
eachDriver((driver) => {
  test("[EXEC-21] what is kept for commands stays below what the workspace holds, however many of them run and fail", async () => {
    const { sh, put, on } = await withCommands(driver);
    for (let n = 0; n < 20; n += 1) put(`src/f${n}`, `${n}`.repeat(5_000));
    for (let n = 0; n < 12; n += 1)
      await sh(`head -c 50000 /dev/urandom > large; echo ${n} > src/f${n}`, { undo: n % 3 === 0 });
    const folder = on(".holdfast/workspace");
    const kept = [join(folder, "images"), join(folder, "exec"), join(folder, "tmp")].reduce(
      (sum, one) => sum + bytesIn(one),
      0,
    );
    expect(kept).toBeLessThan(bytesIn(on("src")) + bytesIn(on("large")) + 20_000);
  });
});

function bytesIn(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  return stat.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0) : stat.size;
}
