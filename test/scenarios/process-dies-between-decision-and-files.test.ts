import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../support/children.ts";
import { holdfastAt } from "../support/sessions.ts";
import { freshRoot, inWorkspace, work } from "../support/workspaces.ts";
import { testTogether } from "../support/together.ts";

/** Two files changed, one made, one removed by one call, in a process that kills itself at a touch of the workspace. */
const CALL = (root: string, store: string, dies: string) => `
  import { createHoldfast, defineTool, realHost } from "@/index.ts";
  import { sqlite } from "@/stores/sqlite/entry.ts";
  const die = () => process.kill(process.pid, "SIGKILL");
  let armed = false;
  const port = new Proxy(realHost, { get: (target, name) => {
    const value = target[name];
    return typeof value === "function" ? (...args) => { if (armed && (${dies})(String(name), args)) die(); return value(...args); } : value;
  } });
  const edit = defineTool({ name: "edit", access: "write", async run(_, { files }) {
    await files.writeText("a", "new");
    await files.writeText("b", "new");
    await files.writeText("made/c", "new");
    await files.delete("d");
    armed = true;
  } });
  const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(store)}), workspace: { root: ${JSON.stringify(root)}, port }, tools: [edit] });
  const session = await holdfast.open("s");
  await session.runTool({ name: "edit", input: {} });
  say("survived");
`;

const before = { a: "old", b: "old", "made/c": undefined, d: "old" };
const after = { a: "new", b: "new", "made/c": "new", d: undefined };

test.each([
  ["while the first new file is written", `(name) => name === "write"`, before],
  [
    "when all is synced but for the last",
    `(name) => name === "sync" && (globalThis.syncs = (globalThis.syncs ?? 0) + 1) > 3`,
    before,
  ],
  [
    "at the first rename after the decision",
    `(name, [, to]) => name === "rename" && !to.includes(".holdfast-")`,
    after,
  ],
  ["between taking the old file out and linking the new one in", `(name) => name === "linkAs"`, after],
  [
    "between two files of one call",
    `(name) => name === "linkAs" && (globalThis.links = (globalThis.links ?? 0) + 1) > 1`,
    after,
  ],
])("[HOST-8] [K42] a process that dies %s leaves all of a call's files or none", async (_name, dies, expected) => {
  const at = freshRoot();
  for (const name of ["a", "b", "d"]) writeFileSync(join(at.root, name), "old");
  const child = startChild(CALL(at.root, at.store, dies));
  expect(await child.ended()).toBe(null);
  const { session, text, root } = await work({}, at);
  expect(Object.fromEntries(Object.keys(before).map((path) => [path, text(path)]))).toEqual(expected);
  expect(readdirSync(root).filter((name) => name.startsWith(".holdfast-"))).toEqual([]);
  expect(session.recovered.closedCalls.length).toBe(expected === before ? 1 : 0);
});

test("[HOST-5] a process that dies before it has told what somebody else changed leaves that to the next, which tells it once", async () => {
  const at = freshRoot();
  for (const name of ["a", "b", "d"]) writeFileSync(join(at.root, name), "old");
  const dies = `(name, [first, second]) => {
    const { writeFileSync } = process.getBuiltinModule("node:fs");
    if (name === "linkAs" && second.endsWith("/a")) writeFileSync(${JSON.stringify(join(at.root, "a"))}, "theirs");
    if (globalThis.isOver) return true;
    globalThis.isOver = name === "write" && Buffer.from(second).toString().startsWith("applied ");
    return false;
  }`;
  expect(await startChild(CALL(at.root, at.store, dies)).ended()).toBe(null);
  const next = await work({}, at);
  const told = [{ path: "a", kept: expect.stringMatching(/-ours$/) }];
  expect([next.text("a"), next.text("b"), next.session.workspace?.rescued()]).toMatchObject([
    "theirs",
    "new",
    [{ path: "a", whose: "ours" }],
  ]);
  expect(await next.journalled("file-diverged")).toMatchObject(told);
  await next.session.close();
  await next.holdfast.close();
  expect(await (await work({}, at)).journalled("file-diverged")).toMatchObject(told);
});

testTogether(
  "[HOST-6] [K46] a holder that sleeps keeps its folder, and when it wakes without its lease it changes nothing",
  async () => {
    const at = freshRoot();
    writeFileSync(join(at.root, "f"), "old");
    const child = startChild(`
    import { createHoldfast, defineTool } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const edit = defineTool({ name: "edit", access: "write", async run(_, { files }) {
      await files.writeText("f", "of the sleeper");
      say("asleep soon");
      await told();
    } });
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(at.store)}), workspace: ${JSON.stringify(at.root)}, tools: [edit] });
    const session = await holdfast.open("s", { leaseMs: 300 });
    const ended = await session.runTool({ name: "edit", input: {} }).then(({ ok }) => "ended " + ok, (error) => "ended " + error.code);
    await session.close().catch(() => {});
    await holdfast.close().catch(() => {});
    say(ended);
  `);
    await child.said("asleep soon");
    child.process.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, 400));
    await expect(inWorkspace({}, at)).rejects.toMatchObject({ code: "WORKSPACE_BUSY" });
    const successor = await holdfastAt(at.store);
    const session = await successor.open("s"); // without the folder: the lease is the successor's now
    child.process.kill("SIGCONT");
    child.tell("wake up");
    expect(await child.said("ended")).not.toBe("ended true");
    expect(readFileSync(join(at.root, "f"), "utf8")).toBe("old");
    await session.close();
    await successor.close();
    expect((await work({}, at)).text("f")).toBe("old");
    expect(readdirSync(at.root).toSorted()).toEqual([".holdfast", "f"]);
  },
);
