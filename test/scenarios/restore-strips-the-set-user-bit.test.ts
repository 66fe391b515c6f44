import { chmodSync, linkSync, lstatSync } from "node:fs";
import { expect, test } from "vitest";
import { eachDriver, IS_ROOT, portrait, withCommands } from "../support/commands.ts";

// halfline/git-stage-batch#226, Stack-Cairn/LiveAgent#504, LanternOps/breeze#5519: a restore set the mode and then the owner,
// which takes the special bits away; it split files with two names, and opened private ones to everybody.
eachDriver((driver) => {
  test("[EXEC-1] [EXEC-12] a program with special bits, a private file and one with two names come back as they were", async () => {
    const { sh, put, on, root, session } = await withCommands(driver);
    put("bin/tool", "#!/bin/sh\n");
    put("secret", "s\n");
    put("one", "shared\n");
    chmodSync(on("bin/tool"), 0o6755);
    chmodSync(on("secret"), 0o600);
    const before = portrait(root, { times: true });
    const line = "rm -f bin/tool secret; echo other > bin/tool; echo open > secret; chmod 644 secret bin/tool";
    expect((await sh(`${line}; false`)).ok).toBe(false);
    expect(portrait(root, { times: true })).toEqual(before);
    const { ok, callId } = await sh(line);
    expect(ok).toBe(true);
    await session.rewind({ before: callId });
    expect(portrait(root, { times: false })).toEqual(portraitOf(before));
    linkSync(on("one"), on("two"));
    const shared = portrait(root, { times: true });
    if (IS_ROOT || driver === "portable") {
      expect((await sh("echo written > two; false")).ok).toBe(false);
      expect(portrait(root, { times: true })).toEqual(shared);
    }
    expect(lstatSync(on("one")).ino).toBe(lstatSync(on("two")).ino);
  });
});

/** A rewind brings back what a path holds and its mode; its time is that of the rewind. */
function portraitOf(lines: readonly string[]): readonly string[] {
  return lines.map((line) =>
    line.startsWith(".") || line.includes("isSymbolicLink") ? line : line.replace(/ \d+$/, ""),
  );
}
