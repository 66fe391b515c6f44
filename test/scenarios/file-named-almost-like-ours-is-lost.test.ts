import { expect, test } from "vitest";
import { eachDriver, portrait, withCommands } from "../support/commands.ts";

// A user's `.holdfast-cfg` was taken for content of ours that waits beside its target: a command removed it and no rewind
// brought it back, or what a command wrote to it was dropped without a word.
eachDriver((driver) => {
  test("[HOST-7] [EXEC-8] [EXEC-12] a file whose name begins like one of ours is kept, changed and brought back like any other", async () => {
    const { sh, session, put, text, root, run } = await withCommands(driver);
    put("t/.holdfast-cfg", "theirs\n");
    const before = portrait(root, { times: false });
    const first = await sh("echo 1 > .holdfast-x; echo 2 >> t/.holdfast-cfg");
    expect([first.ok, text(".holdfast-x"), text("t/.holdfast-cfg")]).toEqual([true, "1\n", "theirs\n2\n"]);
    expect((await sh("rm -rf t; echo 3 > .holdfast-x", { undo: true })).reason).toBe("undone");
    expect([text(".holdfast-x"), text("t/.holdfast-cfg")]).toEqual(["1\n", "theirs\n2\n"]);
    expect((await run((call) => call.files.writeText("t/.holdfast-cfg", "ours\n"))).ok).toBe(true);
    await sh("rm -rf t");
    expect(portrait(root, { times: false })).toHaveLength(2);
    await session.rewind({ before: first.callId });
    expect(portrait(root, { times: false })).toEqual(before);
  });
});
