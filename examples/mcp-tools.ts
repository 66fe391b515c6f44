/** The tools of an MCP server in a session: written down, honest about what cannot be undone. `npm run example mcp-tools`. */
import assert from "node:assert/strict";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { createHoldfast } from "holdfast";
import { mcpTools } from "holdfast/adapters/mcp";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";

// Somebody's server: it keeps notes, and says of one tool that it only reads.
const notes: string[] = [];
const inputSchema = { type: "object" as const };
const server = new Server({ name: "notes", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/list", () => ({
  tools: [
    { name: "add", inputSchema },
    { name: "all", inputSchema, annotations: { readOnlyHint: true } },
  ],
}));
server.setRequestHandler("tools/call", ({ params }) => {
  if (params.name === "add") notes.push(String(params.arguments?.["text"]));
  return { content: [{ type: "text" as const, text: notes.join(", ") }] };
});
const [here, there] = InMemoryTransport.createLinkedPair();
const client = new Client({ name: "example", version: "1.0.0" });
await Promise.all([server.connect(there), client.connect(here)]);

const holdfast = await createHoldfast({ store: memoryStore() });
const session = await holdfast.open("notes");
const served = await mcpTools(client, { prefix: "notes_", access: { all: "read" } });
await served.follow(session);

const model = scripted([
  { calls: [{ name: "notes_add", input: { text: "milk" } }] },
  { calls: [{ name: "notes_all", input: {} }] },
  { text: "Milk is on the list." },
]);
const outcomes = [];
for await (const event of session.run("Put milk on the list", { model }))
  if (event.kind === "call-closed") outcomes.push(event.outcome);
assert.deepEqual(
  outcomes.map(({ ok, output }) => [ok, output]),
  [
    [true, "milk"],
    [true, "milk"],
  ],
);
assert.equal(outcomes[0]?.effects[0]?.is, "happened"); // it lies outside, and the journal says so
assert.deepEqual(outcomes[1]?.effects, []);

await session.setMode("plan"); // what the user knows to read is offered; what a server merely claims is not
assert.deepEqual(
  session.catalog.snapshot().activeNames.filter((name) => name.startsWith("notes_")),
  ["notes_all"],
);

await client.close();
await session.close();
await holdfast.close();
console.log("called a server's tools, with what they did outside on record");
