import { Client as ClientV2, InMemoryTransport as InMemoryV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport as InMemoryV1 } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server as ServerV1 } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Server as ServerV2 } from "@modelcontextprotocol/server";
import { join } from "node:path";
import type { McpClient } from "../../src/adapters/mcp/entry.ts";

/** A tool of a test's server. */
export interface ServedTool {
  readonly name: string;
  readonly description?: string;
  readonly annotations?: object;
  readonly inputSchema?: object;
  readonly outputSchema?: object;
  /** Answers, or throws what the protocol should tell. */
  readonly run: (args: Record<string, unknown>, told: Told) => object | Promise<object>;
}

interface Told {
  readonly signal: AbortSignal;
  readonly progress: (message: string) => Promise<void>;
}

/** A client connected to a server with these tools, in one process. */
export interface Connected {
  readonly client: McpClient;
  /** How often each tool ran. */
  readonly ran: string[];
  /** Other tools from now on; the client is told. */
  readonly serve: (tools: readonly ServedTool[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

const INFO = { name: "test", version: "1.0.0" };
const CAN = { capabilities: { tools: { listChanged: true } } };
const PAGE = 2;

function listOf(tools: readonly ServedTool[], cursor: string | undefined) {
  const from = Number(cursor ?? 0);
  const page = tools.slice(from, from + PAGE).map(({ run: _run, ...tool }) => ({
    inputSchema: { type: "object" as const },
    ...tool,
  }));
  return { tools: page as never[], ...(from + PAGE < tools.length ? { nextCursor: String(from + PAGE) } : {}) };
}

interface Extra {
  readonly signal: AbortSignal;
  readonly send: (method: string, params: object) => Promise<void>;
  readonly token: string | number | undefined;
}

/** Both versions of the official SDK, each its own client and server. */
export const MCP_VERSIONS: Readonly<Record<string, (tools: readonly ServedTool[]) => Promise<Connected>>> = {
  "version 1": async (first) => {
    const [here, there] = InMemoryV1.createLinkedPair();
    const server = new ServerV1(INFO, CAN);
    const served = new Served(first);
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => listOf(served.tools, params?.cursor));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
      served.call(params.name, params.arguments, {
        signal: extra.signal,
        token: extra._meta?.progressToken,
        send: (method, body) => extra.sendNotification({ method, params: body } as never),
      }),
    );
    const client = new ClientV1(INFO);
    await Promise.all([server.connect(there), client.connect(here)]);
    return served.connected(client, () => server.sendToolListChanged());
  },
  "version 2": async (first) => {
    const [here, there] = InMemoryV2.createLinkedPair();
    const server = new ServerV2(INFO, CAN);
    const served = new Served(first);
    server.setRequestHandler("tools/list", ({ params }) => listOf(served.tools, params?.cursor));
    server.setRequestHandler("tools/call", ({ params }, context) =>
      served.call(params.name, params.arguments, {
        signal: context.mcpReq.signal,
        token: params._meta?.progressToken,
        send: (method, body) => context.mcpReq.notify({ method, params: body } as never),
      }),
    );
    const client = new ClientV2(INFO);
    await Promise.all([server.connect(there), client.connect(here)]);
    return served.connected(client, () => server.sendToolListChanged());
  },
};

class Served {
  tools: readonly ServedTool[];
  readonly ran: string[] = [];

  constructor(tools: readonly ServedTool[]) {
    this.tools = tools;
  }

  async call(name: string, args: Record<string, unknown> | undefined, { signal, send, token }: Extra): Promise<never> {
    const tool = this.tools.find((one) => one.name === name);
    // -32602, as servers of both versions answer for a tool that is not there.
    if (tool === undefined) throw Object.assign(new Error(`there is no tool ${name}`), { code: -32602 });
    this.ran.push(name);
    let progress = 0;
    const told: Told = {
      signal,
      progress: async (message) => {
        progress += 1;
        if (token !== undefined) await send("notifications/progress", { progressToken: token, progress, message });
      },
    };
    return (await tool.run(args ?? {}, told)) as never;
  }

  connected(client: McpClient & { close(): Promise<void> }, changed: () => Promise<void>): Connected {
    return {
      client,
      ran: this.ran,
      serve: async (tools) => {
        this.tools = tools;
        await changed();
      },
      close: () => client.close(),
    };
  }
}

/** A client of either version, connected to a server in a process of its own. */
export const MCP_STDIO: Readonly<Record<string, () => Promise<McpClient & { close(): Promise<void> }>>> = {
  "version 1": async () => {
    const client = new ClientV1(INFO);
    await client.connect(new StdioV1(SERVER));
    return client;
  },
  "version 2": async () => {
    const client = new ClientV2(INFO);
    await client.connect(new StdioV2(SERVER));
    return client;
  },
};

const SERVER = {
  command: process.execPath,
  args: [join(import.meta.dirname, "mcp-server.ts")],
  stderr: "inherit" as const,
};
