/** What the documents take for granted: names that a reader has in his program, as globals of whatever block runs. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/client";
import * as door from "holdfast";
import { anthropic } from "holdfast/adapters/anthropic";
import { openai, openaiCompatible } from "holdfast/adapters/openai";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";
import { sqlite } from "holdfast/stores/sqlite";
import * as telemetry from "holdfast/telemetry";
import { startProviderServer } from "holdfast/testing";
import { workspaceTools } from "holdfast/tools";

const { createHoldfast, defineTool } = door;
const LEAKED = "a secret that got out";

/** In a folder of its own, beside a provider that answers whatever it is asked. Answers how to leave. */
export async function setUp(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-snippet-"));
  process.chdir(folder);
  const provider = await startProviderServer({
    script: ({ nth }) =>
      nth % 2 === 0 ? { text: "I note it.", calls: [{ name: "note", input: { text: "x" } }] } : { text: "Done." },
  });
  Object.assign(process.env, {
    ANTHROPIC_API_KEY: "none",
    ANTHROPIC_BASE_URL: provider.url,
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: `${provider.url}/v1`,
    DB_PASSWORD: "a password of the database",
    PATH: `${binaries(folder)}${delimiter}${process.env["PATH"]}`,
  });
  const holdfast = await world();
  return async () => {
    await holdfast.close();
    await provider.close();
  };
}

async function world(): Promise<door.Holdfast> {
  const editFile = defineTool<{ path?: string; text?: string }>({
    name: "edit_file",
    access: "write",
    async run({ path = "a.ts", text = "changed" }, call) {
      await call.files.writeText(path, text);
      return `wrote ${path}`;
    },
  });
  const readFile = defineTool({ name: "read_file", access: "read", run: () => "what stands there" });
  const tools = [editFile, readFile];
  const model = scripted(({ nth }) => (nth === 0 ? { calls: [{ name: "read_file", input: {} }] } : { text: "Done." }));
  const store = memoryStore();
  const holdfast = await createHoldfast({ store, tools });
  const callId = await closedSession(holdfast, "rename-foo");
  const session = await holdfast.open("at-work");
  await door.finished(session.run("Hello", { model }));
  const page = session.context.view?.pages.find(({ kind }) => kind === "evidence");
  const items: readonly door.Item[] = [{ kind: "user", parts: [{ type: "text", text: "Hello" }] }];
  const messages = [{ role: "user", content: "Hello" }];
  const prompt = door.definePrompt("plain", [{ id: "identity", body: "You are careful." }]);
  const aligned = await session.align();
  const kernel = { holdfast, session, store, tools, model, prompt, items, messages, history: messages, callId };
  const made = {
    sqlite,
    anthropic,
    openai,
    workspaceTools,
    editFile,
    yours: [],
    tool: readFile,
    name: "read_file",
    input: {},
  };
  const said = {
    text: "Hello",
    instructions: "Be brief.",
    longManual: "Turn the key.",
    bytes: new Uint8Array([1, 2, 3]),
  };
  const known = { pageId: page?.id, handle: page?.handle, body: { tools: aligned.catalog.tools }, id: "a-session" };
  const secret = { key: "the session's own key", leaked: LEAKED, vault: { read: async () => "a secret of the vault" } };
  const yours = {
    Cursor,
    show() {},
    ask: async () => "an answer",
    askInTheTerminal: async () => undefined,
    onRepair() {},
  };
  const theirs = {
    pino: () => ({ debug() {}, info() {}, warn() {}, error() {} }),
    yourStore: { async append() {}, async load() {} },
    transport: InMemoryTransport.createLinkedPair()[0],
    openMine: () => store,
    mine: mineModel,
  };
  const rest = { signal: new AbortController().signal, options: {}, queue: [], registered: [], test() {} };
  Object.assign(globalThis, door, telemetry, kernel, made, said, known, secret, yours, theirs, rest);
  return holdfast;
}

async function closedSession(holdfast: door.Holdfast, id: string): Promise<string> {
  const session = await holdfast.open(id);
  await session.append({ kind: "user-said", text: `the password is: ${LEAKED}` });
  const { callId } = await session.runTool({ name: "edit_file", input: {} });
  await session.close();
  return callId;
}

/** A resource that can be put back. */
class Cursor {
  at = 0;
  snapshot(): number {
    return this.at;
  }
  restore(at: unknown): void {
    this.at = Number(at);
  }
}

function mineModel({ baseURL }: { readonly baseURL: string }): door.Model {
  return openaiCompatible({ baseURL: `${baseURL}/v1`, model: "mine", apiKey: "none" });
}

/** Programs that a document starts. */
function binaries(folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const server = join(import.meta.dirname, "../support/mcp-server.ts");
  writeFileSync(join(bin, "github-mcp-server"), `#!/bin/sh\nexec '${process.execPath}' '${server}'\n`);
  chmodSync(join(bin, "github-mcp-server"), 0o755);
  return bin;
}
