/** A whole turn, durable at every step, with a question to the user in between. `npm run example whole-turn`. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askUser, createHoldfast, defineTool, finished } from "holdfast";
import { anthropic } from "holdfast/adapters/anthropic";
import { sqlite } from "holdfast/stores/sqlite";
import { startProviderServer } from "holdfast/testing";
import { z } from "zod";

// A provider on this machine, as strict as the real ones: no key, no network, and it stumbles once.
const provider = await startProviderServer({
  script: [
    { text: "I look first.", calls: [{ name: "read_file", input: { path: "notes.md" } }] },
    { fault: "overloaded", retryAfter: 0 },
    { calls: [{ name: "ask_user", input: { question: "Really delete them?" } }] },
    { calls: [{ name: "delete_file", input: { path: "notes.md" } }] },
    { text: "They are gone." },
  ],
});
const model = anthropic({ model: "strict-1", apiKey: "no-key-needed", baseURL: provider.url });

const readFile = defineTool({
  name: "read_file",
  input: z.object({ path: z.string() }),
  access: "read",
  run: ({ path }, call) => call.files.readText(path),
});
const deleteFile = defineTool({
  name: "delete_file",
  input: z.object({ path: z.string() }),
  access: "write",
  approval: true, // somebody must consent before it runs
  async run({ path }, call) {
    await call.files.delete(path);
    return `deleted ${path}`;
  },
});

const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
const open = () =>
  createHoldfast({ store: sqlite(join(folder, "sessions.db")), tools: [readFile, deleteFile, askUser] });

// The first process: it follows the turn until the model has a question.
const first = await open();
const session = await first.open("tidy-up");
await session.files.writeText("notes.md", "old notes");
for await (const event of session.run("Delete my notes.", { model })) {
  if (event.kind === "text") process.stdout.write(event.text);
  if (event.kind === "retry") console.log(`\nasked again: ${event.failure.kind}`);
  if (event.kind === "call-closed") console.log(`\n${event.outcome.tool}: ${event.outcome.status}`);
  if (event.kind === "end") assert.equal(event.end.status, "waiting");
}
await first.close(); // the question does not go away with the process

// Another process, another day: the user answers, and the turn goes on; the next question is answered as it comes.
const second = await open();
const again = await second.open("tidy-up");
const [asked] = again.waiting;
assert.deepEqual(asked?.input, { question: "Really delete them?" });
await again.reply(asked.callId, { answer: "Yes, all of them." });
const end = await finished(again.run(undefined, { model, ask: async () => ({ approve: true }) }));
assert.equal(end.status, "done");
assert.equal(await again.files.exists("notes.md"), false);
assert.deepEqual(
  provider.refused.map(({ status }) => status),
  [529], // only what the script asked for
);
console.log(`${end.text} ${end.spent.steps} more answers, ${end.spent.output} tokens.`);
await again.close();
await second.close();
await provider.close();
rmSync(folder, { recursive: true });
