import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json, Session } from "../index.ts";
import { inEveryWay, expectDenied, outcomes } from "../../test/support/planning.ts";
import { withTools } from "../../test/support/tools.ts";
import { freshRoot, work } from "../../test/support/workspaces.ts";
import { workspaceTools } from "./entry.ts";

const TOOLS = { tools: workspaceTools() };
const FILES = { "src/a.txt": "one\ntwo\nthree\n", "src/b/c.txt": "two\n", "README.md": "# two\n" };

/** Everything a model might do, one after the other. */
const STORY: readonly (readonly [string, Json])[] = [
  ["list_files", { depth: 3 }],
  ["glob", { pattern: "**/*.txt" }],
  ["grep", { pattern: "tw.", around: 1 }],
  ["read_file", { path: "src/a.txt", from: 2, lines: 1 }],
  ["edit_file", { path: "src/a.txt", edits: [{ find: "two", replace: "2" }] }],
  ["edit_file", { path: "src/a.txt", edits: [{ find: "two", replace: "2" }] }],
  ["write_file", { path: "new/d.txt", text: "fresh\n" }],
  [
    "apply_patch",
    { patch: "*** Begin Patch\n*** Delete File: README.md\n*** Update File: new/d.txt\n-fresh\n+stale\n*** End Patch" },
  ],
  ["read_file", { path: "README.md" }],
  ["list_files", { depth: 3 }],
];

async function told(session: Session): Promise<readonly unknown[]> {
  const said: unknown[] = [];
  for (const [name, input] of STORY) said.push((await session.runTool({ name, input })).output);
  return said;
}

describe("in a folder", () => {
  test("[TOOL-14] the same calls say and do the same in memory and in a folder", async () => {
    const inMemory = await withTools(FILES);
    const at = freshRoot();
    mkdirSync(join(at.root, "src/b"), { recursive: true });
    for (const [path, content] of Object.entries(FILES)) writeFileSync(join(at.root, path), content);
    const { session, root } = await work(TOOLS, at);
    const said = await told(session);
    expect(said).toEqual(await told(inMemory.session));
    expect(said.at(-1)).toBe("new/\nnew/d.txt\nsrc/\nsrc/a.txt\nsrc/b/\nsrc/b/c.txt");
    expect(readFileSync(join(root, "new/d.txt"), "utf8")).toBe("stale\n");
  });

  test("[TOOL-14] what is Holdfast's own is neither shown nor found nor changed", async () => {
    const { session } = await work(TOOLS);
    const run = (name: string, input: Json) => session.runTool({ name, input });
    await run("write_file", { path: "a.txt", text: "sqlite workspace" });
    expect((await run("list_files", { depth: 8 })).output).toBe("a.txt");
    expect((await run("glob", { pattern: "**" })).output).toBe("a.txt");
    expect((await run("glob", { pattern: ".holdfast/**" })).output).toBe("[no file matches]");
    expect((await run("grep", { pattern: "." })).output).toBe("a.txt:1:sqlite workspace");
    for (const [name, input] of [
      ["read_file", { path: ".holdfast/workspace" }],
      ["list_files", { path: ".holdfast" }],
      ["write_file", { path: ".holdfast/x", text: "" }],
      ["apply_patch", { patch: "*** Begin Patch\n*** Add File: .holdfast/x\n+x\n*** End Patch" }],
    ] as const)
      expect((await run(name, input)).ok).toBe(false);
  });

  test("[TOOL-14] a link that leads out is not followed by any of them", async () => {
    const at = freshRoot();
    const { symlinkSync } = await import("node:fs");
    symlinkSync("/etc", join(at.root, "out"));
    symlinkSync("/etc/hostname", join(at.root, "name"));
    const { session } = await work(TOOLS, at);
    expect((await session.runTool({ name: "grep", input: { pattern: "." } })).output).toBe("[no line matches]");
    for (const path of ["name", "out/hostname"])
      expect((await session.runTool({ name: "read_file", input: { path } })).ok).toBe(false);
    expect((await session.runTool({ name: "write_file", input: { path: "out/x", text: "" } })).ok).toBe(false);
  });
});

inEveryWay(
  "[TOOL-13] in plan mode a model is offered what looks, and what changes files does not run",
  async ({ session, turn, requests, files }) => {
    await session.setMode("plan");
    const script = [
      {
        calls: [
          { name: "write_file", input: { path: "leak.txt", text: "x" } },
          { name: "list_files", input: {} },
        ],
      },
      { text: "ok" },
    ];
    const [write, list] = outcomes(await turn(script));
    expectDenied(write);
    expect(list?.ok).toBe(true);
    const offered = requests[0]?.tools?.map(({ name }) => name) ?? [];
    expect(offered).toEqual(expect.arrayContaining(["read_file", "list_files", "glob", "grep"]));
    for (const name of ["write_file", "edit_file", "apply_patch"]) expect(offered).not.toContain(name);
    expect(await files()).toEqual([]);
  },
  TOOLS,
);
