import { expect, test } from "vitest";
import { eachDriver, git, portrait, withCommands } from "../support/commands.ts";

// github/copilot-cli#1675, google-gemini/gemini-cli#13331, cline/cline#14367: `git clean` and `git reset --hard` took
// gigabytes of results and work that was not committed, for good. Here an agent's own command does it.
eachDriver((driver) => {
  // With `-x` git tries to remove `.holdfast`, too: the overlay does not let it, and it says so with its exit code.
  const CLEAN =
    driver === "overlay" ? "git reset -q --hard; git clean -qfdx || true" : "git reset -q --hard; git clean -qfd";

  async function project() {
    const one = await withCommands(driver);
    git(one.root, "init", "-q");
    one.put(".gitignore", "*.log\n");
    one.put("tracked", "committed\n");
    git(one.root, "add", "-A");
    git(one.root, "commit", "-qm", "first");
    one.put("tracked", "edited and not committed\n");
    one.put("untracked/result", "days of work\n");
    one.put("run.log", "ignored\n");
    return one;
  }

  test("[EXEC-1] in a call that fails it never happened", async () => {
    const { sh, root } = await project();
    const before = portrait(root, { times: true });
    expect((await sh(`${CLEAN}; false`)).ok).toBe(false);
    expect(portrait(root, { times: true })).toEqual(before);
  });

  test("[EXEC-12] in a call that was kept it can be taken back", async () => {
    const { sh, session, text } = await project();
    const { ok, callId } = await sh(CLEAN);
    expect([ok, text("tracked"), text("untracked/result")]).toEqual([true, "committed\n", undefined]);
    await session.rewind({ before: callId });
    expect([text("tracked"), text("untracked/result")]).toEqual(["edited and not committed\n", "days of work\n"]);
    expect(text("run.log")).toBe("ignored\n");
  });
});
