/** A session that outlives the process that wrote it. Run it: `npm run example durable-session`. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callIdAt, createHoldfast } from "holdfast";
import { sqlite } from "holdfast/stores/sqlite";

const folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
const store = sqlite(join(folder, "sessions.db"));

// The first process: a question, and a call that never ends.
const first = await createHoldfast({ store });
const session = await first.open("rename-foo");
await session.append({ kind: "user-said", text: "Rename foo to bar" });
const callId = callIdAt(session.id, 1, 0);
await session.append([
  { kind: "model-said", text: "I will look for it." },
  { kind: "call-opened", callId, tool: "search", args: { text: "foo" } },
]);
// While it holds the session, nobody else can write it: two writers would tell two stories.
await assert.rejects(first.open("rename-foo"), { code: "SESSION_BUSY" });
await first.close(); // as good as a crash: the session was never closed

// The second process: what was acknowledged is there, and the open call is closed.
const second = await createHoldfast({ store });
const again = await second.open("rename-foo");
assert.deepEqual(again.recovered, { closedCalls: [callId], damaged: [] });
const kinds: string[] = [];
for await (const entry of again.read()) kinds.push(entry.kind);
assert.deepEqual(kinds, [
  "session-created",
  "user-said",
  "model-said",
  "call-opened",
  "call-closed",
  "session-recovered",
]);

// A fork shares all of that and goes its own way.
const fork = await second.fork("rename-foo", { as: "try-again", after: 2 });
await fork.append({ kind: "user-said", text: "Rename it to baz instead" });
assert.equal((await second.verify()).ok, true);

for (const open of [fork, again]) await open.close();
await second.close();
rmSync(folder, { recursive: true });
console.log("6 records survived, 1 call was closed, 1 fork shares them");
