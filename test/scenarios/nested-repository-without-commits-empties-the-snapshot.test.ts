import { mkdirSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eachDriver, git, portrait, withCommands } from "../support/commands.ts";

// anomalyco/opencode#26893: one `git init` in a folder of the project, and `git add -A` staged nothing; the next restore
// emptied the workspace. Two days of work.
eachDriver((driver) => {
  test("[EXEC-1] a repository in the project changes nothing about what is brought back", async () => {
    const { sh, put, root, on } = await withCommands(driver);
    put("work/of/two/days", "work\n");
    mkdirSync(on("inner"));
    git(on("inner"), "init", "-q");
    writeFileSync(on("inner/file"), "in it\n");
    const before = portrait(root, { times: true });
    expect((await sh("rm -rf work inner/.git && echo x > inner/file && git init -q other && false")).ok).toBe(false);
    expect(portrait(root, { times: true })).toEqual(before);
  });
});
