/** What the documents take for granted: names that a reader has in his program, as globals of whatever block runs. */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { InMemoryTransport } from "@modelcontextprotocol/client";
import * as door from "holdfast";
import { anthropic } from "holdfast/adapters/anthropic";
import type { SessionStore } from "holdfast/adapters/claude-agent-sdk";
import { openai, openaiCompatible } from "holdfast/adapters/openai";
import { scripted } from "holdfast/adapters/scripted";
import { memoryStore } from "holdfast/stores/memory";
import { sqlite } from "holdfast/stores/sqlite";
import * as telemetry from "holdfast/telemetry";
import { startProviderServer } from "holdfast/testing";
import { workspaceTools } from "holdfast/tools";
import { z } from "zod";

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
  const { holdfast } = await world();
  return async () => {
    await holdfast.close();
    await provider.close();
  };
}

/**
 * What stands in the documents under which name: as values here, and as types for types.test.ts, which asks by this name.
 * @public
 */
export type Ambient = Awaited<ReturnType<typeof world>>;

async function world() {
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
  if (page === undefined) throw new Error("the model has seen no page");
  const items: readonly door.Item[] = [{ kind: "user", parts: [{ type: "text", text: "Hello" }] }];
  const messages = [{ role: "user", content: "Hello" }];
  const prompt = door.definePrompt("plain", [{ id: "identity", body: "You are careful." }]);
  const kernel = { holdfast, session, store, tools, model, prompt, items, messages, history: messages, callId };
  const made = {
    z,
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
  const known = { pageId: page.id, handle: page.handle, id: "a-session" };
  const secret = {
    key: "the session's own key",
    leaked: LEAKED,
    vault: { read: async (_name: string) => "a secret of the vault" },
  };
  const yours = {
    show: (..._said: readonly unknown[]): void => {},
    onRepair: (..._said: readonly unknown[]): void => {},
    ask: async (..._about: readonly unknown[]) => "an answer",
    askInTheTerminal: async (_call: door.WaitingCall, _signal: AbortSignal): Promise<door.Reply | undefined> =>
      undefined,
    release: async (_args: unknown): Promise<door.Json> => "released",
    takeBack: async (_args: unknown): Promise<void> => {},
  };
  const theirs = {
    pino: () => ({ debug() {}, info() {}, warn() {}, error() {} }),
    yourStore: { async append() {}, load: async () => null } as SessionStore,
    transport: InMemoryTransport.createLinkedPair()[0],
    openMine: async (_place: string, _clock: door.Clock): Promise<door.Store> => store,
    mine: mineModel,
  };
  const queue: door.KernelEvent[] = [];
  const test = (_title: string, _run: () => unknown): void => {};
  const rest = { signal: new AbortController().signal, options: {}, queue, registered: [], test };
  const all = { ...door, ...telemetry, ...kernel, ...made, ...said, ...known, ...secret, ...yours, ...theirs, ...rest };
  return Object.assign(globalThis, all);
}

async function closedSession(holdfast: door.Holdfast, id: string): Promise<string> {
  const session = await holdfast.open(id);
  await session.append({ kind: "user-said", text: `the password is: ${LEAKED}` });
  const { callId } = await session.runTool({ name: "edit_file", input: {} });
  await session.close();
  return callId;
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
