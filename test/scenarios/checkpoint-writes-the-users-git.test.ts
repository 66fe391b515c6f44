import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

// openai/codex#8214 and #28241 (the user's index rewritten), cline/cline#5598 and #4388 (`.git` renamed and stranded by a
// crash), anomalyco/opencode#26893 (a nested repository without a commit made the snapshot empty, and the undo a wipe).
test("[HOST-1] [HOST-10] [K39] commits and rewinds leave every byte below .git, and nested repositories change nothing", async () => {
  const { run, put, text, session, root } = await work();
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=u", "-c", "user.email=u@example.com", ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  const inside = () => execFileSync("tar", ["-c", "--sort=name", ".git"], { cwd: root });
  git("init", "-q");
  put("tracked", "1");
  put("staged", "1");
  git("add", "-A");
  git("commit", "-qm", "start");
  put("staged", "half-finished");
  git("add", "staged");
  git("init", "-q", "vendor/nested"); // without a commit
  put("vendor/nested/file", "nested");
  const before = inside();
  const { callId } = await run(async ({ files }) => {
    await files.writeText("tracked", "2");
    await files.writeText("staged", "2");
    await files.writeText("vendor/nested/file", "2");
    await files.delete("vendor/nested/.git", { recursive: true });
  });
  expect([text("vendor/nested/file"), text("vendor/nested/.git/HEAD")]).toEqual(["2", undefined]);
  await session.rewind({ before: callId });
  expect(inside().equals(before)).toBe(true);
  expect(["tracked", "staged", "vendor/nested/file"].map(text)).toEqual(["1", "half-finished", "nested"]);
  expect(text("vendor/nested/.git/HEAD")).toContain("ref:");
  expect(git("status", "--porcelain")).toBe("M  staged\n?? vendor/\n"); // ours is not even untracked
});
