import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Client as ClientV2, InMemoryTransport as InMemoryV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport as InMemoryV1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { holdfastOptions } from "../../src/adapters/claude-agent-sdk/entry.ts";
import { type McpTransport, serveTools } from "../../src/adapters/mcp/entry.ts";
import { finished, HoldfastError, type Json, type Model, type Session } from "../../src/index.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { WAYS } from "./loop.ts";
import { freshRoot } from "./workspaces.ts";

/** One call that somebody makes. */
export interface MadeCall {
  readonly name: string;
  readonly input: { readonly [field: string]: Json };
}

/** Makes the calls one after the other, in a session, on one way. */
export type Way = (session: Session, calls: readonly MadeCall[]) => Promise<void>;

const key = { apiKey: "k" };
const MODELS: Readonly<Record<string, (url: string, script: never) => Model>> = {
  ...(WAYS as Readonly<Record<string, (url: string, script: never) => Model>>),
  "ai sdk over responses": (url) => aiSdk(createOpenAI({ ...key, baseURL: `${url}/v1` }).responses("m")),
  "ai sdk over anthropic": (url) => aiSdk(createAnthropic({ ...key, baseURL: `${url}/v1` })("m")),
};

/** Our own loop, asking a model that says it all. */
function inOurLoop(modelAt: (typeof MODELS)[string]): Way {
  return async (session, calls) => {
    const script = [...calls.map((call) => ({ calls: [call] })), { text: "done" }];
    const server = await startProviderServer({ script });
    try {
      const end = await finished(session.run("go", { model: modelAt(server.url, script as never) }));
      if (end.status !== "done") throw new Error(`the turn ended as ${end.status}`);
      if (server.refused.length > 0) throw new Error(`refused: ${JSON.stringify(server.refused)}`);
    } finally {
      await server.close();
    }
  };
}

/** A host that runs the handlers itself, between a begin and a commit. */
const begun: Way = async (session, calls) => {
  for (const { name, input } of calls) {
    const tool = session.transactions.tool(name);
    if (tool === undefined) {
      await session.runTool({ name, input }); // a host has no handler for it either
      continue;
    }
    try {
      const pending = await session.begin({ name, input });
      await pending.commit(await ran(() => tool.run(input, pending.call)));
    } catch (error) {
      if (!HoldfastError.is(error, "CALL_REFUSED")) throw error;
    }
  }
};

/** What a host says of a handler that threw. */
async function ran(work: () => unknown): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Error && error.name === "VisibilityExpansionRequired") throw error;
    const code = HoldfastError.is(error) ? error.code : "threw";
    return { ok: false, code, message: error instanceof Error ? error.message : String(error) };
  }
}

interface Caller {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function callerAt(connect: (transport: McpTransport) => Promise<void>, version: 1 | 2): Promise<Caller> {
  const info = { name: "host", version: "1.0.0" };
  if (version === 1) {
    const [here, there] = InMemoryV1.createLinkedPair();
    const client = new ClientV1(info);
    await Promise.all([connect(there as unknown as McpTransport), client.connect(here)]);
    return client;
  }
  const [here, there] = InMemoryV2.createLinkedPair();
  const client = new ClientV2(info);
  await Promise.all([connect(there as unknown as McpTransport), client.connect(here)]);
  return client;
}

function asServer(version: 1 | 2): Way {
  return async (session, calls) => {
    const server = serveTools(session);
    const client = await callerAt((transport) => server.connect(transport), version);
    for (const { name, input } of calls) await client.callTool({ name, arguments: input });
    await client.close();
  };
}

interface Hooked {
  readonly hooks: Readonly<
    Record<string, readonly { readonly hooks: readonly ((input: object) => Promise<object>)[] }[]>
  >;
  readonly mcpServers: Readonly<
    Record<string, { readonly instance: { connect(transport: McpTransport): Promise<void> } }>
  >;
}

/** The contract of the Claude Agent SDK: a hook before, the call of the server in its process, a hook after. */
const underClaude: Way = async (session, calls) => {
  const { options, leave } = await holdfastOptions(session, {} as Hooked);
  const ask = async (event: string, fields: object) => {
    const [ours] = options.hooks[event] ?? [];
    return (await ours?.hooks[0]?.({ hook_event_name: event, session_id: "x", ...fields })) ?? {};
  };
  const client = await callerAt((transport) => options.mcpServers["holdfast"]!.instance.connect(transport), 1);
  for (const [at, { name, input }] of calls.entries()) {
    const about = { tool_name: `mcp__holdfast__${name}`, tool_input: input, tool_use_id: `toolu_${at}` };
    if ("hookSpecificOutput" in (await ask("PreToolUse", about)))
      throw new Error("denied before the session was asked");
    const tool_response = await client.callTool({ name, arguments: input });
    await ask("PostToolUse", { ...about, tool_response });
  }
  await leave();
};

/** The SDK itself, with its runtime. */
function inClaude(sdk: string): Way {
  return async (session, calls) => {
    const { query } = (await import(pathToFileURL(join(sdk, "sdk.mjs")).href)) as {
      readonly query: (asked: object) => AsyncIterable<unknown>;
    };
    let asked = 0;
    const script = () => {
      const call = calls[asked];
      asked += 1;
      return call === undefined ? { text: "done" } : { calls: [{ ...call, name: `mcp__holdfast__${call.name}` }] };
    };
    const server = await startProviderServer({ script });
    const { options, leave } = await holdfastOptions(session, {
      cwd: freshRoot().root,
      model: "claude-sonnet-4-5",
      settingSources: [],
      env: {
        ...process.env,
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: "k",
        CLAUDE_CONFIG_DIR: freshRoot().root,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    });
    for await (const _ of query({ prompt: "go", options })) {
      // Followed to its end.
    }
    await leave();
    if (server.refused.length > 0) throw new Error(`refused: ${JSON.stringify(server.refused)}`);
    await server.close();
  };
}

/** Every way on which a call can reach a session. */
export const HOSTS: Readonly<Record<string, Way>> = {
  ...Object.fromEntries(Object.entries(MODELS).map(([name, modelAt]) => [name, inOurLoop(modelAt)])),
  "begin and commit": begun,
  "a server of MCP 1": asServer(1),
  "a server of MCP 2": asServer(2),
  "the Claude Agent SDK's hooks": underClaude,
};

const { HOLDFAST_CLAUDE_SDK: sdk } = process.env;
/** The runtime, where it is installed. */
export const CLAUDE_RUNTIME: Way | undefined = sdk === undefined ? undefined : inClaude(sdk);
