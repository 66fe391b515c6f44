/** A sub-agent: its work is committed as it goes, and taken back with the call. Run it: `npm run example sub-agent`. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHoldfast } from "holdfast";
import { scripted } from "holdfast/adapters/scripted";
import { sqlite } from "holdfast/stores/sqlite";
import { workspaceTools } from "holdfast/tools";

const root = mkdtempSync(join(tmpdir(), "holdfast-example-"));
const write = (path: string) => ({ calls: [{ name: "write_file", input: { path, text: "by the helper\n" } }] });
const helper = {
  name: "helper",
  description: "Does what it is told, out of sight.",
  // The second task never comes to an end: it meets its bound.
  model: scripted([write("a.txt"), { text: "Wrote a.txt." }, write("b.txt"), write("c.txt"), write("d.txt")]),
  limits: { steps: 3 },
};
const holdfast = await createHoldfast({
  store: sqlite(join(root, ".holdfast", "sessions.db")),
  workspace: root,
  tools: workspaceTools(),
  agents: [helper],
});
const session = await holdfast.open("delegating");

const model = scripted([
  { calls: [{ name: "helper", input: { task: "write a.txt" } }] },
  { calls: [{ name: "helper", input: { task: "write everything" } }] },
  { text: "One of two." },
]);
const outcomes = [];
for await (const event of session.run("Have two things done", { model }))
  if (event.kind === "call-closed") outcomes.push(event.outcome);
assert.deepEqual(
  outcomes.map(({ reason }) => reason),
  ["succeeded", "agent-limit"],
);
assert.equal(outcomes[0]?.output, "Wrote a.txt.");
assert.equal(existsSync(join(root, "a.txt")), true);
for (const path of ["b.txt", "c.txt", "d.txt"]) assert.equal(existsSync(join(root, path)), false); // taken back

const report = await session.rewind({ before: outcomes[0]?.callId ?? "" });
assert.equal(report.agents?.length, 1);
assert.equal(existsSync(join(root, "a.txt")), false); // and so is what it had finished, when its call is

await session.close();
await holdfast.close();
rmSync(root, { recursive: true });
console.log("one task was done, one was taken back, and the rewind took the other");
