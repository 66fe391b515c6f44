import { expect, test } from "vitest";
import { eachDriver, portrait, withCommands } from "../support/commands.ts";

// unarbos/arbos#390: git had no identity, so the checkpoint was empty; going back to it removed everything that was not
// tracked, and reported success. Here nothing is asked of git, and what was brought back is looked at again.
eachDriver((driver) => {
  const NOBODY = { HOME: "/nonexistent", GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

  test("[EXEC-1] [EXEC-4] a command is undone exactly where git knows nobody, and where there is no git at all", async () => {
    for (const env of [NOBODY, { ...NOBODY, PATH: "/nonexistent" }]) {
      const { sh, put, root, results } = await withCommands(driver, { exec: { driver, env } });
      put("notes/untracked", "days of work\n");
      put("a.txt", "a\n");
      const before = portrait(root, { times: true });
      const { reason } = await sh("cd notes; /bin/rm -f untracked; echo ruined > ../a.txt; git commit -m x; exit 3");
      expect([reason, results[0]?.exitCode, portrait(root, { times: true })]).toEqual(["exit", 3, before]);
      const { ok } = await sh("echo kept > a.txt");
      expect(ok).toBe(true);
    }
  });
});
