import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { startChild } from "../support/children.ts";
import { eachDriver, git, portrait } from "../support/commands.ts";
import { freshRoot, work } from "../support/workspaces.ts";

// cline/cline#5598, #1313, #4388, #9590: to take a checkpoint `.git` was renamed, a crash left it so, and submodules broke.
// Here a command of the agent's own has moved it when the process dies.
eachDriver((driver) => {
  test("[EXEC-11] the next process finds the repository, its submodule and every ref as they were", async () => {
    const at = freshRoot();
    const library = freshRoot().root;
    git(library, "init", "-q");
    git(library, "commit", "-q", "--allow-empty", "-m", "library");
    git(at.root, "init", "-q");
    git(at.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "lib");
    git(at.root, "commit", "-qm", "first");
    const before = portrait(at.root, { times: false });
    const line = "mv .git .git_disabled; rm -rf lib/.git; echo ruined > .gitmodules; echo begun; sleep 61";
    const child = startChild(`
      import { createHoldfast, defineTool } from "@/index.ts";
      import { sqlite } from "@/stores/sqlite/entry.ts";
      const shell = defineTool({ name: "shell", access: "execute", run: (line, call) => call.exec(line) });
      const holdfast = await createHoldfast({
        store: sqlite(${JSON.stringify(at.store)}, { durability: "process" }),
        workspace: ${JSON.stringify(at.root)}, tools: [shell], exec: { driver: ${JSON.stringify(driver)} },
      });
      const session = await holdfast.open("s");
      await session.runTool({ name: "shell", input: ${JSON.stringify(line)} }, { onProgress: (text) => say("heard " + text.trim()) });
    `);
    await child.said("heard begun");
    await child.kill();
    const { session } = await work({}, at);
    expect(session.recovered.closedCalls).toHaveLength(1);
    expect(portrait(at.root, { times: false })).toEqual(before);
    const status = execFileSync("git", ["submodule", "status"], { cwd: at.root, encoding: "utf8" });
    expect(status).toMatch(/^ [0-9a-f]{40} lib/);
  });
});
