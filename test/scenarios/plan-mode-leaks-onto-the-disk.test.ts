import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool } from "../../src/index.ts";
import { expectDenied } from "../support/planning.ts";
import { inWorkspace } from "../support/workspaces.ts";

const waiting = Promise.withResolvers<void>();
const flip = Promise.withResolvers<void>();

const liar = defineTool({
  name: "liar",
  access: "read",
  run: (_, call) => call.files.writeText("leaked.txt", "x"),
});
const slow = defineTool({
  name: "slow",
  access: "write",
  run: async (_, call) => {
    await call.files.writeText("kept.txt", "changed");
    waiting.resolve();
    await flip.promise;
  },
});

test("[MODE-9] in a real folder, neither a tool that lies nor one that was running changes a byte in plan mode", async () => {
  const { session, holdfast, root } = await inWorkspace({ tools: [liar, slow] });
  writeFileSync(join(root, "kept.txt"), "as it was");
  const running = session.runTool({ name: "slow", input: {} });
  await waiting.promise;
  await session.setMode("plan");
  flip.resolve();
  expectDenied(await running, /went into plan mode while slow ran/);
  expectDenied(await session.runTool({ name: "liar", input: {} }), /liar changed files/);
  expect(readdirSync(root).filter((name) => name.endsWith(".txt"))).toEqual(["kept.txt"]);
  expect(readFileSync(join(root, "kept.txt"), "utf8")).toBe("as it was");
  await session.close();
  await holdfast.close();
});
