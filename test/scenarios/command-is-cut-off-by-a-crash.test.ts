import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../support/children.ts";
import { eachDriver, portrait, runningLike } from "../support/commands.ts";
import { freshRoot, work } from "../support/workspaces.ts";
import { testTogether } from "../support/together.ts";
import { layOut } from "../exec/fidelity.ts";

/** A process that runs a command and says so when the command has begun to change things. */
function running(driver: string, at: { readonly root: string; readonly store: string }, line: string) {
  return startChild(`
    import { createHoldfast, defineTool } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const shell = defineTool({ name: "shell", access: "execute", run: (line, call) => call.exec(line) });
    const holdfast = await createHoldfast({
      store: sqlite(${JSON.stringify(at.store)}, { durability: "process" }),
      workspace: ${JSON.stringify(at.root)}, tools: [shell], exec: { driver: ${JSON.stringify(driver)} },
    });
    const session = await holdfast.open("s");
    await session.runTool({ name: "shell", input: "echo first > first" });
    await session.runTool({ name: "shell", input: ${JSON.stringify(line)} }, { onProgress: (text) => say("heard " + text.trim()) });
  `);
}

eachDriver((driver) => {
  testTogether(
    "[EXEC-11] [K42] the next process finds the call closed, the files as before it, and nothing running",
    async () => {
      const at = freshRoot();
      layOut(at.root);
      const time = `81234.${process.pid}${driver.length}`;
      const line = `echo ruined > a.txt; rm -rf src; chmod 777 secret; mkdir junk; echo x > junk/x; (setsid sleep ${time} &) ; echo begun; sleep ${time}`;
      const child = running(driver, at, line);
      await child.said("heard begun");
      await child.kill();
      const { session, text } = await work({}, at);
      expect(session.recovered.closedCalls).toHaveLength(1);
      expect(runningLike(time)).toEqual([]);
      expect(text("first")).toBe("first\n");
      const fresh = freshRoot();
      layOut(fresh.root);
      const found = portrait(at.root, { times: false }).filter((one) => !one.startsWith('"first"'));
      expect(found).toEqual(portrait(fresh.root, { times: false }));
      const left = join(at.root, ".holdfast/workspace/exec");
      expect(existsSync(left) ? readdirSync(left) : []).toEqual([]);
      await session.close();
      const again = await work({}, at);
      expect(again.session.recovered).toEqual({ closedCalls: [], damaged: [] });
    },
  );

  test("[EXEC-11] in a larger tree, of which only changes were written down since, it is the same", async () => {
    const at = freshRoot();
    for (let n = 0; n < 120; n += 1) writeFileSync(join(at.root, `f${n}`), `${n}\n`);
    const holding = `81235.${process.pid}${driver.length}`;
    const child = startChild(`
      import { createHoldfast, defineTool } from "@/index.ts";
      import { sqlite } from "@/stores/sqlite/entry.ts";
      const shell = defineTool({ name: "shell", access: "execute", async run(line, call) {
        const { exitCode } = await call.exec(line);
        return exitCode === 0 ? "kept" : call.fail("exit", "undone");
      } });
      const holdfast = await createHoldfast({
        store: sqlite(${JSON.stringify(at.store)}, { durability: "process" }),
        workspace: ${JSON.stringify(at.root)}, tools: [shell], exec: { driver: ${JSON.stringify(driver)} },
      });
      const session = await holdfast.open("s");
      const sh = (input) => session.runTool({ name: "shell", input }, { onProgress: (text) => say("heard " + text.trim()) });
      await sh("echo kept > f1; rm f2");
      await sh("echo ruined > f3; echo x > new; false");
      await sh("echo kept > f4; mkdir d; echo kept > d/f");
      await sh("echo ruined > f1; rm -rf d f5; echo begun; sleep ${holding}");
    `);
    await child.said("heard begun");
    await child.kill();
    const { text } = await work({}, at);
    const paths = ["f1", "f2", "f3", "f4", "f5", "d/f", "new", "f119"];
    const expected = ["kept\n", undefined, "3\n", "kept\n", "5\n", "kept\n", undefined, "119\n"];
    expect([paths.map(text), runningLike(holding)]).toEqual([expected, []]);
  });
});
