import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type HostPort, realHost } from "../../src/index.ts";
import { withCommands } from "../support/commands.ts";
import { freshRoot } from "../support/workspaces.ts";
import { driverLaws } from "./driver-laws.ts";

driverLaws("portable");

test("[EXEC-1] bringing a line back takes no megabyte of memory", async () => {
  let largest = 0;
  const port: HostPort = {
    ...realHost,
    read: (handle, bytes, offset, length, position) => {
      largest = Math.max(largest, bytes.length);
      return realHost.read(handle, bytes, offset, length, position);
    },
  };
  const at = freshRoot();
  const { sh, put, text } = await withCommands("portable", { workspace: { root: at.root, port } }, at);
  put("line", "as it was\n");
  await sh("echo other > line", { undo: true });
  expect(text("line")).toBe("as it was\n");
  expect(largest).toBeLessThanOrEqual(64 * 1024);
});

describe("whoever writes on when a command has ended, and was not found and ended with it", () => {
  test.each(["a call that writes elsewhere", "another command", "a rewind"])(
    "[EXEC-25] is told at the next boundary: %s",
    async (boundary) => {
      const { sh, run, put, on, session, journalled } = await withCommands("portable");
      put("other", "other\n");
      const first = await run(({ files }) => files.writeText("mine", "mine"));
      await sh("echo made > made; echo more >> other; echo still > still");
      writeFileSync(on("made"), "late and longer\n");
      if (boundary === "another command") await sh("true");
      else if (boundary === "a rewind") await session.rewind({ before: first.callId });
      else await run(({ files }) => files.writeText("elsewhere", "x"));
      expect(await journalled("file-diverged")).toMatchObject([{ path: "made" }]);
      expect(readFileSync(on("made"), "utf8")).toBe("late and longer\n");
      await sh("true");
      expect(await journalled("file-diverged")).toHaveLength(1);
    },
  );

  test("[EXEC-25] is told where the command was undone, too", async () => {
    const { sh, put, on, run, journalled } = await withCommands("portable");
    put("there", "as it was\n");
    await sh("echo changed > there; echo made > made", { undo: true });
    expect(readFileSync(on("there"), "utf8")).toBe("as it was\n");
    writeFileSync(on("made"), "late\n");
    await run(({ files }) => files.writeText("elsewhere", "x"));
    expect(await journalled("file-diverged")).toMatchObject([{ path: "made" }]);
    expect(readFileSync(on("made"), "utf8")).toBe("late\n");
  });

  test("[EXEC-25] is not made up: what calls of ours write afterwards is nobody else's", async () => {
    const { sh, run, journalled } = await withCommands("portable");
    await sh("mkdir d; echo made > d/made; echo b > b");
    await run(({ files }) => files.writeText("d/made", "ours"));
    await sh("echo again > b; touch d/new");
    await run(({ files }) => files.delete("b"));
    await sh("true");
    expect(await journalled("file-diverged")).toEqual([]);
  });
});
