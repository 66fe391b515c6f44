import { chmodSync, mkdirSync, statSync } from "node:fs";
import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

// github/copilot-cli#1675, google-gemini/gemini-cli#13331, cline/cline#14367: `git clean -fd` after a reset took results,
// downloads and notes that were never in the repository; with `.gitignore` reset first, ignored files went as well.
test("[HOST-11] [K36] a rewind leaves every file that no call made, ignored or not, old or new", async () => {
  const { run, put, text, session, on } = await work();
  put(".gitignore", "results\n");
  put("results/run-1.csv", "a gigabyte of it");
  put("notes.txt", "before the session");
  const { callId } = await run(async ({ files }) => {
    await files.writeText(".gitignore", "");
    await files.writeText("src/new.ts", "agent");
  });
  put("src/mine.ts", "written by the user beside the agent's file");
  put("results/run-2.csv", "another");
  mkdirSync(on("results/empty"), { mode: 0o700 });
  chmodSync(on("notes.txt"), 0o600);
  const { files } = await session.rewind({ before: callId });
  expect(
    ["results/run-1.csv", "results/run-2.csv", "notes.txt", "src/mine.ts", "src/new.ts", ".gitignore"].map(text),
  ).toEqual([
    "a gigabyte of it",
    "another",
    "before the session",
    "written by the user beside the agent's file",
    undefined,
    "results\n",
  ]);
  expect([statSync(on("results/empty")).mode & 0o777, statSync(on("notes.txt")).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(files?.kept).toEqual([{ path: "src", why: "not-empty" }]);
});

test("[HOST-11] [HOST-12] a folder in the place of a file stays while it holds what no call made, and the dry run says so", async () => {
  const { run, put, text, session } = await work();
  put("notes", "a file");
  const { callId } = await run(async ({ files }) => {
    await files.delete("notes");
    await files.writeText("notes/one.txt", "agent");
  });
  put("notes/mine.txt", "written by the user");
  const kept = [{ path: "notes", why: "not-empty" }];
  expect((await session.rewind({ before: callId, dryRun: true })).files?.kept).toEqual(kept);
  const { files } = await session.rewind({ before: callId });
  expect([files?.kept, files?.unlike]).toEqual([kept, []]);
  expect(text("notes/mine.txt")).toBe("written by the user");
});
