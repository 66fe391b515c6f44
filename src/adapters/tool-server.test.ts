import { expect, test } from "vitest";
import { hanging } from "../../test/support/calls.ts";
import { opened } from "../../test/support/durable.ts";
import { settle } from "../../test/support/stores.ts";
import { defineTool, type Tool, toolResult } from "../index.ts";
import { type McpTransport, type ServeOptions, serveTools } from "./tool-server.ts";

const show = defineTool({
  name: "show",
  access: "read",
  run: () =>
    toolResult([
      "words",
      { mediaType: "application/pdf", bytes: Buffer.from("pdf"), name: "a.pdf" },
      { mediaType: "application/zip", bytes: Buffer.from("zip") },
    ]),
});
const hidden = defineTool({ name: "hidden", access: "write", run: () => "done" });

/** A host at the other end of the line: it sends what it likes. */
async function host(options: ServeOptions = {}, tools: readonly Tool[] = [show, hidden]) {
  const { session } = await opened(undefined, { tools });
  const server = serveTools(session, options);
  const heard: { id?: unknown; method?: string; result?: object; error?: { code: number } }[] = [];
  const transport: McpTransport = {
    start: async () => {},
    send: async (message) => void heard.push(message),
    close: async () => {},
  };
  await server.connect(transport);
  const says = async (message: unknown) => {
    transport.onmessage?.(message as never);
    await settle();
    return heard.at(-1);
  };
  return { server, says, heard, session };
}

test("[MCP-15] what is no session, and an option that would not be heard, are refused before anybody is served", async () => {
  const { session } = await opened(undefined, { tools: [show] });
  const refused = (option: string) =>
    expect.objectContaining({ code: "BAD_OPTION", details: expect.objectContaining({ option }) });
  expect(() => serveTools({} as never)).toThrow(refused("session"));
  expect(() => serveTools(undefined as never)).toThrow(refused("session"));
  expect(() => serveTools(session, { tool: () => false } as never)).toThrow(refused("tool"));
  expect(() => serveTools(session, { tools: ["show"] } as never)).toThrow(refused("tools"));
  await session.close();
});

test("[CLAUDE-1] whatever a host sends, it is answered by the protocol: a version it knows, a ping, a typed refusal", async () => {
  const { says, heard, server } = await host({ meta: { ours: true } });
  expect(await says({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18" } })).toMatchObject({
    result: { protocolVersion: "2025-06-18" },
  });
  expect(await says({ id: 2, method: "initialize" })).toMatchObject({ result: { protocolVersion: "2025-11-25" } });
  expect(await says({ id: 3, method: "ping" })).toEqual({ jsonrpc: "2.0", id: 3, result: {} });
  expect(await says({ id: 4, method: "resources/list" })).toMatchObject({ error: { code: -32601 } });
  expect(await says({ id: 5, method: "tools/list" })).toMatchObject({
    result: { tools: expect.arrayContaining([expect.objectContaining({ name: "show", _meta: { ours: true } })]) },
  });
  const before = heard.length;
  for (const odd of [undefined, 7, {}, { id: 6 }, { method: "ping" }, { id: 7, method: 7 }]) await says(odd);
  expect(heard).toHaveLength(before);
  await server.toolsChanged();
  expect(heard.at(-1)).toMatchObject({ method: "notifications/tools/list_changed", params: {} });
});

test("[CLAUDE-1] a tool that is not served is refused, one that is not there fails, and files arrive as files", async () => {
  const { says, session } = await host({ tools: ({ name }) => name !== "hidden" });
  const call = (id: number, name?: string) =>
    says({ id, method: "tools/call", params: name === undefined ? {} : { name } });
  expect(await call(1, "hidden")).toMatchObject({ error: { code: -32602 } });
  expect(await call(2)).toMatchObject({ result: { isError: true } });
  const { result } = (await call(3, "show")) as { result: { content: { type: string; resource?: { uri: string } }[] } };
  expect(result.content.map(({ type }) => type)).toEqual(["text", "resource", "resource"]);
  expect(result.content.map(({ resource }) => resource?.uri.split("/").at(-1))).toEqual([undefined, "a.pdf", "file"]);
  const { says: closed, session: gone } = await host();
  await gone.close();
  expect(await closed({ id: 1, method: "tools/call", params: { name: "show" } })).toMatchObject({
    error: { code: -32603 },
  });
  await session.close();
});

test("[MCP-12] a client whose line is broken keeps no other from hearing, and one that was never reached is not told", async () => {
  const { server, heard } = await host();
  const line = (more: Partial<McpTransport>): McpTransport => ({
    start: async () => {},
    send: () => Promise.reject(new Error("broken pipe")),
    close: () => Promise.reject(new Error("broken pipe")),
    ...more,
  });
  await expect(server.connect(line({ start: () => Promise.reject(new Error("no way")) }))).rejects.toThrow("no way");
  await server.toolsChanged();
  await server.connect(line({}));
  const closed: string[] = [];
  await server.connect(
    line({ send: async (message) => void heard.push(message), close: async () => void closed.push("last") }),
  );
  heard.length = 0;
  await expect(server.toolsChanged()).rejects.toThrow("broken pipe");
  expect(heard).toHaveLength(2);
  await expect(server.close()).rejects.toThrow("broken pipe");
  expect(closed).toEqual(["last"]);
});

test("[MCP-12] a request that its client canceled is not answered any more", async () => {
  const begun = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    access: "write",
    run: (_, { signal }) => {
      begun.resolve();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
    },
  });
  const { says, heard, session } = await host({}, [slow]);
  await says({ id: 1, method: "tools/call", params: { name: "slow" } });
  await begun.promise;
  await says({ method: "notifications/cancelled", params: { requestId: 1 } });
  await expect.poll(async () => (await session.callRecords()).at(-1)?.outcome_summary.ok).toBe(false);
  expect(heard).toEqual([]);
  expect(await says({ id: 2, method: "ping" })).toMatchObject({ id: 2 });
  expect(heard).toHaveLength(1);
});

test("[MCP-17] when served tools are closed no call of a client stays open, and nobody waits for whoever is asked", async () => {
  const asked = Promise.withResolvers<void>();
  const consents = () => {
    asked.resolve();
    return new Promise<boolean>(() => {});
  };
  const ran: string[] = [];
  const { tool: slow, reached } = hanging("slow", "write");
  const deploy = defineTool({ name: "deploy", access: "write", approval: true, run: () => void ran.push("ran") });
  const { says, server, session } = await host({ consents }, [slow, deploy]);
  await says({ id: 1, method: "tools/call", params: { name: "slow" } });
  await says({ id: 2, method: "tools/call", params: { name: "deploy" } });
  await Promise.all([reached, asked.promise]);
  await server.close(); // this line does not say that it is closed
  expect(session.openCalls).toEqual([]);
  expect((await session.callRecords()).map(({ outcome_summary }) => outcome_summary.ok)).toEqual([false, false]);
  expect(ran).toEqual([]);
});

test("[MCP-21] what a served tool reports while it works reaches the client that asked to hear of it, and no other", async () => {
  const tells = defineTool({
    name: "tells",
    access: "read",
    run: (_, call) => {
      for (const text of ["half", "nearly"]) call.progress(text);
      return "done";
    },
  });
  const { says, heard } = await host({}, [tells]);
  const call = { method: "tools/call", params: { name: "tells", _meta: { progressToken: "p" } } };
  expect(await says({ id: 1, ...call })).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } });
  expect(heard.slice(0, -1)).toEqual(
    ["half", "nearly"].map((message, nth) => ({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: "p", progress: nth + 1, message },
    })),
  );
  heard.length = 0;
  await says({ id: 2, method: "tools/call", params: { name: "tells" } });
  expect(heard.map(({ id }) => id)).toEqual([2]);
});
