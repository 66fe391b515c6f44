/**
 * A session under the Claude Agent SDK, whose runtime is pointed at a strict provider in this process. The SDK is no
 * dependency: install it, or say where it is. `HOLDFAST_CLAUDE_SDK=path/to/claude-agent-sdk npm run example claude-agent-sdk`
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createHoldfast } from "holdfast";
import { holdfastOptions } from "holdfast/adapters/claude-agent-sdk";
import { sqlite } from "holdfast/stores/sqlite";
import { startProviderServer } from "holdfast/testing";
import { workspaceTools } from "holdfast/tools";

interface Sdk {
  readonly query: (asked: { prompt: string; options: object }) => AsyncIterable<{ type: string; result?: string }>;
}

const { HOLDFAST_CLAUDE_SDK: place } = process.env;
if (place === undefined) {
  console.log("HOLDFAST_CLAUDE_SDK is not set: nothing to show");
  process.exit(0);
}
const { query } = (await import(pathToFileURL(join(place, "sdk.mjs")).href)) as Sdk;

const root = mkdtempSync(join(tmpdir(), "holdfast-example-"));
const holdfast = await createHoldfast({
  store: sqlite(join(root, ".holdfast", "sessions.db")),
  workspace: root,
  tools: workspaceTools(),
});
const session = await holdfast.open("under-claude");

const write = { name: "mcp__holdfast__write_file", input: { path: "hello.txt", text: "hello\n" } };
let asked = 0;
const server = await startProviderServer({
  script: () => {
    asked += 1;
    return asked === 1 ? { calls: [write] } : { text: "Written." };
  },
});
const host = await holdfastOptions(session, {
  cwd: root,
  model: "claude-sonnet-4-5",
  settingSources: [],
  env: {
    ...process.env,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CONFIG_DIR: join(root, ".holdfast", "claude"),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  },
});
let said: string | undefined;
for await (const message of query({ prompt: "Write hello.txt.", options: host.options }))
  if (message.type === "result") said = message.result;
await host.leave();

assert.equal(said, "Written.");
assert.equal(await session.files.readText("hello.txt"), "hello\n");
const [call] = session.checkpoints.list();
await session.rewind({ before: call?.callId ?? "" }); // the host knows nothing of this, and need not
assert.equal(await session.files.exists("hello.txt"), false);

await server.close();
await session.close();
await holdfast.close();
rmSync(root, { recursive: true });
console.log("a tool of the session ran under the host's loop, and was taken back");
