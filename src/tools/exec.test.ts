import { expect, test } from "vitest";
import { work } from "../../test/support/workspaces.ts";
import { execTool } from "./entry.ts";

test("[EXEC-19] the tool keeps what a command did that succeeded, and undoes one that failed unless told otherwise", async () => {
  const { session, text } = await work({ tools: [execTool()] });
  const exec = (input: object) => session.runTool({ name: "exec", input });
  const good = await exec({ command: "echo a > a; echo said; echo warned >&2" });
  expect([good.ok, good.output, text("a")]).toEqual([true, "Exit code 0.\nsaid\nstderr:\nwarned\nChanged: a.", "a\n"]);
  const bad = await exec({ command: "rm a; echo no; exit 3" });
  expect([bad.ok, bad.reason, text("a")]).toEqual([false, "command-failed", "a\n"]);
  expect(bad.output).toContain("Exit code 3.\nno\nChanged: a.\nIts changes were undone.");
  const kept = await exec({ command: "echo report > report; exit 1", keep_on_failure: true });
  expect([kept.ok, text("report")]).toEqual([true, "report\n"]);
  const slow = await exec({ command: "sleep 50", seconds: 1 });
  expect([slow.ok, slow.output]).toEqual([false, expect.stringContaining("ran out of time")]);
  const asked = await exec({
    command: "trap 'exit 0' TERM; echo half > half; while :; do sleep 0.05; done",
    seconds: 1,
  });
  expect([asked.ok, asked.reason, text("half")]).toEqual([false, "command-failed", undefined]);
  expect((await exec({ command: "cat", stdin: "fed", cwd: "." })).output).toBe("Exit code 0.\nfed");
  await exec({ command: "mkdir sub; echo in > sub/in" });
  expect((await exec({ command: "cat in", cwd: "/sub/" })).output).toBe("Exit code 0.\nin");
});

test("[EXEC-29] the tool says where a folder may be that is not there, and that paths begin at the workspace", async () => {
  const { session, put, text } = await work({ tools: [execTool()] });
  put("src/app/a", "x");
  const exec = (cwd: string) => session.runTool({ name: "exec", input: { command: "echo x > ran", cwd } });
  expect(await exec("/disk/project/src")).toMatchObject({
    reason: "FILE_NOT_FOUND",
    output: expect.stringContaining("There is no disk/project/src. Folders are relative to the workspace."),
  });
  expect(await exec("srcs")).toMatchObject({
    output: expect.stringContaining("There is no srcs. The workspace has: src/."),
  });
  expect(await exec("src/app/a")).toMatchObject({ reason: "FILE_NOT_FOLDER" });
  expect(await exec("../up")).toMatchObject({ reason: "FILE_BAD_PATH" });
  expect(text("ran")).toBe(undefined);
});
