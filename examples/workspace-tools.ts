/** Tools for a workspace: exact, bounded, all or nothing. Run it: `npm run example workspace-tools`. */
import assert from "node:assert/strict";
import { createHoldfast, defineTool, planTool, toolResult } from "holdfast";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";
import { workspaceTools } from "holdfast/tools";

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const screenshot = defineTool({
  name: "screenshot",
  access: "read",
  run: () => toolResult(["As it looks now:", { mediaType: "image/png", bytes: PIXEL }]),
});

const tools = [...workspaceTools(), planTool, screenshot];
const holdfast = await createHoldfast({ store: memoryStore(), tools });
const session = await holdfast.open("tidy");
await session.files.writeText("a.ts", "let foo = 1;\nlet other = foo;\n");

const patch = `*** Begin Patch
*** Update File: a.ts
-let foo = 1;
-let other = foo;
+let bar = 1;
+let other = bar;
*** Add File: NOTES.md
+foo is bar now
*** End Patch`;
const model = scripted([
  { calls: [{ name: "grep", input: { pattern: "\\bfoo\\b" } }] },
  { calls: [{ name: "edit_file", input: { path: "a.ts", edits: [{ find: "foo", replace: "bar" }] } }] },
  { calls: [{ name: "apply_patch", input: { patch } }] },
  { calls: [{ name: "screenshot", input: {} }] },
  { text: "Renamed." },
]);

const outcomes = [];
for await (const event of session.run("Rename foo to bar", { model }))
  if (event.kind === "call-closed") outcomes.push(event.outcome);
const [grep, edit, patched, shot] = outcomes;
assert.equal(grep?.output, "a.ts:1:let foo = 1;\na.ts:2:let other = foo;");
assert.equal(edit?.reason, "ambiguous"); // it stands in two places, and none was guessed
assert.match(JSON.stringify(edit.output), /at line 1 and 2/);
assert.equal(patched?.output, "Updated a.ts.\nAdded NOTES.md.");
assert.equal(await session.files.readText("a.ts"), "let bar = 1;\nlet other = bar;\n");
assert.equal(shot?.parts?.length, 2); // the picture is a part of the result, kept once by its digest

await session.close();
await holdfast.close();
console.log("searched, refused to guess, patched two files at once, and looked at a picture");
