/** A tool edits real files, a user edits beside it, and a rewind takes back the tool's part only. */
import { strictEqual } from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHoldfast, defineTool } from "holdfast";
import { sqlite } from "holdfast/stores/sqlite";
import { z } from "zod";

const root = mkdtempSync(join(tmpdir(), "holdfast-example-"));
const text = (path: string) => readFileSync(join(root, path), "utf8");
writeFileSync(join(root, "app.ts"), "const foo = 1;\n");
writeFileSync(join(root, "notes.md"), "by hand\n");

const rename = defineTool({
  name: "rename",
  input: z.object({ from: z.string(), to: z.string(), fail: z.boolean().optional() }),
  access: "write",
  async run({ from, to, fail }, call) {
    await call.files.edit("app.ts", { find: from, replace: to, all: true });
    await call.files.writeText("docs/renamed.md", `${from} is now ${to}\n`);
    return fail === true ? call.fail("no", "changed my mind") : `renamed ${from}`;
  },
});

const holdfast = await createHoldfast({
  store: sqlite(join(root, ".holdfast/sessions.db")),
  workspace: root,
  tools: [rename],
});
const session = await holdfast.open("example");

// A call that fails has changed nothing.
await session.runTool({ name: "rename", input: { from: "foo", to: "bar", fail: true } });
strictEqual(text("app.ts"), "const foo = 1;\n");

// One that succeeds has changed everything it meant to.
const { callId } = await session.runTool({ name: "rename", input: { from: "foo", to: "bar" } });
strictEqual(text("app.ts"), "const bar = 1;\n");

// The user goes on working, also in the agent's file.
writeFileSync(join(root, "docs/renamed.md"), "better words\n");
writeFileSync(join(root, "notes.md"), "more by hand\n");

// Back: the agent's edit is gone, the user's are not.
const { files } = await session.rewind({ before: callId });
strictEqual(text("app.ts"), "const foo = 1;\n");
strictEqual(text("docs/renamed.md"), "better words\n");
strictEqual(text("notes.md"), "more by hand\n");
for (const { path, does } of files?.files ?? []) console.log(`${does} ${path}`);
for (const { path, why } of files?.kept ?? []) console.log(`kept ${path}: ${why}`);

await session.close();
await holdfast.close();
