/** A session larger than its model's window: nothing is lost, and the prefix stays. Run it: `npm run example long-session`. */
import assert from "node:assert/strict";
import { createHoldfast, defineTool, type ModelRequest } from "holdfast";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";
import { z } from "zod";

const file = (path: string) =>
  Array.from({ length: 150 }, (_, at) => `${path} line ${at}: something to know`).join("\n");
const readFile = defineTool({
  name: "read_file",
  input: z.object({ path: z.string() }),
  access: "read",
  run: ({ path }) => file(path),
});

// A model that reads forty files, a hundred times more than fits, and then asks for the first one again by its handle.
const sent: ModelRequest[] = [];
const model = scripted(({ nth, request }) => {
  sent.push(request as ModelRequest);
  if (nth < 40) return { calls: [{ name: "read_file", input: { path: `src/file-${nth}.ts` } }] };
  const handle = session.context.view?.pages.find(({ kind }) => kind === "evidence")?.handle ?? "";
  return nth === 40 ? { calls: [{ name: "recall", input: { handle } }] } : { text: "Done." };
});

const holdfast = await createHoldfast({
  store: memoryStore(),
  tools: [readFile],
  context: {
    window: 20_000,
    rules: [{ id: "R1", text: "Never push to main.", scope: "project", source: "AGENTS.md" }],
  },
});
const session = await holdfast.open("long");

let reclaims = 0;
for await (const event of session.run("Read everything", { model })) if (event.kind === "reclaimed") reclaims += 1;

// Requests begin like the one before, except when pages were lowered to make room.
const text = ({ items, stableItems = 0 }: ModelRequest) =>
  items.slice(0, stableItems).map((item) => JSON.stringify(item));
const changed = sent.filter((request, at) => {
  const before = at === 0 ? [] : text(sent[at - 1] as ModelRequest);
  return before.some((item, nth) => item !== text(request)[nth]);
});
assert.equal(changed.length, reclaims);

// The rule is in every request; the first file came back exactly, though it had long been left out.
for (const request of sent) assert.ok(JSON.stringify(request.items).includes("Never push to main."));
const recalled = (await session.conversation()).findLast((item) => item.kind === "output");
assert.deepEqual(recalled?.parts, [{ type: "text", text: file("src/file-0.ts") }]);

const view = session.context.view;
assert.ok(view !== undefined && view.tokens <= view.budget);
const oldest = view.pages.find(({ kind }) => kind === "evidence");
console.log(
  `${sent.length} requests, ${reclaims} reclaims; the first file: ${session.context.explain(oldest?.id ?? "")?.words}`,
);
await session.close();
await holdfast.close();
