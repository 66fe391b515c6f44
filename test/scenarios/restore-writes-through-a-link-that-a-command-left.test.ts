import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool } from "../../src/index.ts";
import { eachDriver, portrait, withCommands } from "../support/commands.ts";

// UKGovernmentBEIS/inspect_ai#5238, #5390: a folder had become a link to somewhere else, and bringing files back into the
// folder wrote them there.
eachDriver((driver) => {
  test("[EXEC-1] [HOST-17] nothing outside is written, whether the command is undone or rewound", async () => {
    const { sh, put, root, session } = await withCommands(driver);
    const outside = `${root}-outside`;
    mkdirSync(outside);
    writeFileSync(join(outside, "victim"), "theirs\n");
    put("conf/victim", "ours\n");
    put("conf/other", "ours\n");
    const before = portrait(root, { times: false });
    const line = `rm -rf conf && ln -s '${outside}' conf`;
    expect((await sh(`${line} && false`)).ok).toBe(false);
    expect(portrait(root, { times: false })).toEqual(before);
    const { ok, callId } = await sh(line);
    expect(ok).toBe(true);
    await session.rewind({ before: callId });
    expect(portrait(root, { times: false })).toEqual(before);
    expect([readdirSync(outside), readFileSync(join(outside, "victim"), "utf8")]).toEqual([["victim"], "theirs\n"]);
  });

  test("[EXEC-7] [HOST-17] what a call writes after its command does not follow a link the command made", async () => {
    const { session, put, root } = await withCommands(driver, {
      tools: [escaping((line) => `rm -rf conf && ln -s '${line}' conf`)],
    });
    const outside = `${root}-outside`;
    mkdirSync(outside);
    put("conf/a", "ours\n");
    symlinkSync(outside, join(root, "there"));
    const { ok } = await session.runTool({ name: "escape", input: outside });
    expect([ok, readdirSync(outside)]).toEqual([false, []]);
  });
});

function escaping(lineOf: (outside: string) => string) {
  return defineTool<string>({
    name: "escape",
    access: "execute",
    async run(outside, call) {
      await call.exec(lineOf(outside));
      await call.files.writeText("conf/escaped", "out\n");
      await call.exec("true");
      return "wrote";
    },
  });
}
