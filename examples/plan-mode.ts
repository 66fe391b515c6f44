/** Plan mode that cannot leak: the model tries, and nothing changes. Run it: `npm run example plan-mode`. */
import assert from "node:assert/strict";
import { createHoldfast, definePrompt, defineTool, type RunEvent, shellReadOnly } from "holdfast";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";
import { z } from "zod";

const editFile = defineTool({
  name: "edit_file",
  input: z.object({ path: z.string(), text: z.string() }),
  access: "write",
  async run({ path, text }, call) {
    await call.files.writeText(path, text);
    return `wrote ${path}`;
  },
});
const shell = defineTool({
  name: "shell",
  input: z.object({ command: z.string() }),
  access: "execute",
  readOnly: shellReadOnly(), // in plan mode only what it can prove to be reading
  run: ({ command }) => `(the output of ${command})`,
});
const prompt = definePrompt("engineer", [
  { id: "identity", body: "You are a careful engineer." },
  { id: "editing", body: "Change files with edit_file.", tools: [{ tool: "edit_file", as: "offered" }] },
]);

// A model that does as it likes: it edits, lists files, and hides a deletion behind a harmless command.
const wilful = scripted(({ nth }) =>
  nth % 2 === 0
    ? {
        calls: [
          { name: "edit_file", input: { path: "a.ts", text: "changed" } },
          { name: "shell", input: { command: "ls src" } },
          { name: "shell", input: { command: "ls src && rm -rf src" } },
        ],
      }
    : { text: "That is my plan." },
);

const holdfast = await createHoldfast({ store: memoryStore(), tools: [editFile, shell], prompt });
const session = await holdfast.open("fix-login");

async function turn(input: string) {
  const events: RunEvent[] = [];
  for await (const event of session.run(input, { model: wilful })) events.push(event);
  return events.flatMap((event) => (event.kind === "call-closed" ? [event.outcome] : []));
}

await session.setMode("plan", "the user wants to see a plan first");
const planned = await turn("How would you fix the login?");
assert.deepEqual(
  new Set(planned.map(({ tool, ok }) => `${tool}: ${ok}`)),
  new Set(["edit_file: false", "shell: true", "shell: false"]),
);
assert.deepEqual(await session.files.list(), []); // nothing was written
for (const { output } of planned.filter(({ ok }) => !ok)) console.log(output);

await session.setMode("act");
const acted = await turn("Do it.");
assert.ok(acted.every(({ ok }) => ok));
assert.equal(await session.files.readText("a.ts"), "changed");

await session.close();
await holdfast.close();
console.log("in plan mode it looked, in act mode it wrote");
