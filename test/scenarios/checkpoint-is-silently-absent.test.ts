import { existsSync, truncateSync } from "node:fs";
import { expect, test } from "vitest";
import { eachDriver, portrait, withCommands } from "../support/commands.ts";

// google-gemini/gemini-cli#4115, arpagon/pi-rewind#7, anomalyco/opencode#2642: no repository, an ignored file or a folder that
// was too large, and there was no checkpoint; nobody was told until it was needed.
eachDriver((driver) => {
  test("[EXEC-1] there is no repository and the files are ignored, and the command is undone all the same", async () => {
    const { sh, put, root } = await withCommands(driver);
    put(".gitignore", "*\n");
    put(".env", "KEY=1\n");
    put("dist/out.js", "built\n");
    const before = portrait(root, { times: true });
    expect((await sh("echo KEY=2 > .env; rm -rf dist; echo x > x.log; false")).ok).toBe(false);
    expect(portrait(root, { times: true })).toEqual(before);
  });

  test("[EXEC-9] what a driver cannot take into its care is told by name before the command runs, or is in its care", async () => {
    const { sh, put, on, results, session } = await withCommands(driver, { exec: { driver, cover: { file: 10_000 } } });
    put("small", "s\n");
    put("large", "");
    truncateSync(on("large"), 20_000);
    const { ok, reason, output } = await sh("echo ran > ran; echo changed > large; false");
    expect(existsSync(on("ran"))).toBe(false);
    if (driver === "portable") {
      expect([ok, reason, results.length, output]).toEqual([
        false,
        "EXEC_NOT_COVERED",
        0,
        expect.stringContaining("large (too-large)"),
      ]);
      const { reason: told } = await sh("echo ran > ran; false", { options: { uncovered: "report" } });
      expect([told, results[0]?.protection.uncovered]).toEqual(["exit", [{ path: "large", why: "too-large" }]]);
    } else expect([reason, results[0]?.protection.uncovered]).toEqual(["exit", []]);
    expect(session.protection?.driver).toBe(driver);
  });
});
