import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { steps } from "../../../test/support/calls.ts";
import { opened, step } from "../../../test/support/durable.ts";
import { scripted, watch } from "../../../test/support/loop.ts";
import { type Connected, MCP_STDIO, MCP_VERSIONS, type ServedTool } from "../../../test/support/mcp.ts";
import { PNG } from "../../../test/support/pictures.ts";
import { scratchFolder } from "../../../test/support/places.ts";
import { collect, MemoryDisk } from "../../../test/support/stores.ts";
import type { ToolPolicy } from "../../index.ts";
import { mcpTools } from "./entry.ts";

const text = (said: string, more: object = {}) => ({ content: [{ type: "text", text: said }], ...more });
const echo: ServedTool = {
  name: "echo",
  description: "Says it again.",
  annotations: { readOnlyHint: true },
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  run: (args) => text(String(args["text"])),
};
const write: ServedTool = { name: "write", annotations: { destructiveHint: true }, run: () => text("written") };
const base64 = Buffer.from(PNG).toString("base64");

/** Far longer than it takes, also where everything is slow. */
const SOON = { timeout: 20_000 };

const scratch = scratchFolder();
const connections: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of connections.splice(0)) await one.close();
});

describe.each(Object.keys(MCP_VERSIONS))("%s of the SDK", (version) => {
  async function connect(...tools: readonly ServedTool[]): Promise<Connected> {
    const connected = await (MCP_VERSIONS[version] as (typeof MCP_VERSIONS)[string])(tools);
    connections.push(connected);
    return connected;
  }
  /** A session that follows a server with these tools. */
  async function session(tools: readonly ServedTool[], options: Parameters<typeof mcpTools>[1] = {}) {
    const connected = await connect(...tools);
    const server = await mcpTools(connected.client, options);
    const one = await opened();
    await server.follow(one.session);
    return { ...connected, ...one, server };
  }

  test("[MCP-1] every page of the list is wrapped, with name, words, schema and what the server says of it", async () => {
    const { client } = await connect(echo, write, { ...echo, name: "third" });
    const { tools } = await mcpTools(client, { prefix: "t_" });
    expect(tools.map(({ name }) => name)).toEqual(["t_echo", "t_write", "t_third"]);
    expect(tools[0]).toMatchObject({
      description: "Says it again.",
      inputSchema: { properties: { text: { type: "string" } } },
      annotations: { readOnlyHint: true },
    });
  });

  test("[MCP-1] names that cannot be names here are written in its letters, and never become one", async () => {
    const { client } = await connect({ ...echo, name: "a/b" }, { ...echo, name: "a b" }, { ...echo, name: "1st" });
    const { tools } = await mcpTools(client);
    expect(tools.map(({ name }) => name)).toEqual(["a_b", "a_b_2", "_st"]);
    const hostile = await connect({ ...echo, name: "__proto__" }, { ...echo, name: "constructor" });
    expect((await mcpTools(hostile.client)).tools.map(({ name }) => name)).toEqual(["__proto___2", "constructor"]);
  });

  test("[MCP-16] names with dots, and names that are too long, are names that every provider takes", async () => {
    const long = (end: string) => ({ ...echo, name: `${"search_".repeat(17)}${end}` });
    const names = async (...tools: readonly ServedTool[]) => {
      const { client } = await connect(...tools);
      return (await mcpTools(client, { prefix: "docs_" })).tools.map(({ name }) => name);
    };
    const [dotted, ...both] = await names(
      { ...echo, name: "admin.tools.list" },
      long("a"),
      long("b"),
      long("b!"),
      long("b?"),
    );
    expect(dotted).toBe("docs_admin_tools_list");
    for (const name of both) expect(name).toMatch(/^docs_search_[\w-]{52}$/);
    expect(new Set(both).size).toBe(4);
    expect(await names(long("b"), long("a"))).toEqual([both[1], both[0]]);
  });

  test("[MCP-14] what is no client is refused by what it lacks", async () => {
    for (const given of [{}, undefined, "a command", { connect() {} }])
      await expect(mcpTools(given as never)).rejects.toMatchObject({
        code: "BAD_OPTION",
        details: { option: "client", wants: expect.stringContaining("listTools") },
      });
  });

  test("[MCP-2] what a server says of its own tool opens nothing, unless it is trusted", async () => {
    const { client } = await connect(echo, write, {
      ...write,
      name: "odd",
      annotations: { readOnlyHint: true, destructiveHint: true },
    });
    const access = async (options: Parameters<typeof mcpTools>[1]) =>
      (await mcpTools(client, options)).tools.map((tool) => tool.access);
    expect(await access({})).toEqual(["external", "external", "external"]);
    expect(await access({ trustAnnotations: true })).toEqual(["read", "external", "external"]);
    expect(await access({ access: { write: "read" } })).toEqual(["external", "read", "external"]);
    expect(await access({ access: ({ name }) => (name === "echo" ? "execute" : undefined) })).toEqual([
      "execute",
      "external",
      "external",
    ]);
  });

  test("[MCP-2] [MODE-3] in plan mode only a trusted tool is offered and runs", async () => {
    const { session: one, ran } = await session([echo, write], { trustAnnotations: true });
    await one.setMode("plan");
    expect(one.catalog.snapshot().activeNames).toContain("echo");
    expect(one.catalog.snapshot().activeNames).not.toContain("write");
    expect((await one.runTool({ name: "write", input: {} })).reason).toBe("denied");
    expect((await one.runTool({ name: "echo", input: { text: "hi" } })).output).toBe("hi");
    expect(ran).toEqual(["echo"]);
  });

  test("[MCP-3] text, pictures, recordings, resources and data arrive as what they are", async () => {
    const mixed = {
      content: [
        { type: "text", text: "see" },
        { type: "image", data: base64, mimeType: "image/png" },
        { type: "resource", resource: { uri: "file:///a/b.txt", text: "inside" } },
        { type: "resource", resource: { uri: "file:///a/c.png", blob: base64, mimeType: "image/png" } },
        { type: "resource_link", uri: "https://example.org", name: "there" },
      ],
    };
    const data = { content: [], structuredContent: { n: 1 } };
    const { session: one } = await session([
      { name: "mixed", run: () => mixed },
      { name: "data", run: () => data },
    ]);
    const { parts } = await one.runTool({ name: "mixed", input: {} });
    expect(parts).toMatchObject([
      { type: "text", text: "see" },
      { type: "image", mediaType: "image/png", bytes: PNG },
      { type: "text", text: "file:///a/b.txt:\ninside" },
      { type: "image", bytes: PNG, name: "c.png" },
      { type: "text", text: "[there: https://example.org]" },
    ]);
    expect((await one.runTool({ name: "data", input: {} })).output).toEqual({ n: 1 });
  });

  test("[MCP-4] isError, and nothing else, is a failure", async () => {
    const { session: one } = await session([
      { name: "sad", run: () => text("Error: failed! exit code 1") },
      { name: "bad", run: () => text("it broke", { isError: true }) },
    ]);
    expect(await one.runTool({ name: "sad", input: {} })).toMatchObject({ ok: true });
    const bad = await one.runTool({ name: "bad", input: {} });
    expect(bad).toMatchObject({ ok: false, reason: "mcp-error" });
    expect(bad.output).toMatch(
      /^it broke\. Its changes here were undone\. Effects outside: mcp-call \(.*\) happened and was not undone/,
    );
  });

  test("[MCP-5] what is done outside is written down before and after, and told when the call fails", async () => {
    const { session: one } = await session([write]);
    const outcome = await one.runTool({ name: "write", input: { n: 1 } });
    expect(outcome.effects).toMatchObject([{ name: "mcp-call", is: "happened" }]);
    const kinds = (await collect(one.read())).map(({ kind }) => kind);
    const from = kinds.indexOf("call-opened");
    expect(kinds.slice(from, from + 4)).toEqual(["call-opened", "effect-opened", "effect-done", "call-closed"]);
    const dry = await one.rewind({ before: outcome.callId, dryRun: true });
    expect(JSON.stringify(dry)).toContain("mcp-call");
  });

  test("[MCP-5] a request that the server refused did not happen; one whose answer is lost may have", async () => {
    const { session: one, serve } = await session([
      write,
      { name: "vanish", run: () => Promise.reject(Object.assign(new Error("boom"), { code: -32603 })) },
    ]);
    const lost = await one.runTool({ name: "vanish", input: {} });
    expect(lost).toMatchObject({ ok: false, reason: "mcp-failed", effects: [{ is: "unknown" }] });
    const { tool } = { tool: one.transactions.tool("write") };
    await serve([]);
    one.transactions.add(tool === undefined ? [] : [tool]); // the list is old: the server does not know it any more
    const refused = await one.runTool({ name: "write", input: {} });
    expect(refused).toMatchObject({ ok: false, reason: "mcp-failed", effects: [] });
  });

  test("[MCP-10] a tool whose answer the client refused has run all the same", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const { session: one, ran } = await session([
      { name: "none", outputSchema, run: () => text("done") },
      { name: "other", outputSchema, run: () => text("done", { structuredContent: { n: "one" } }) },
    ]);
    for (const name of ["none", "other"])
      expect(await one.runTool({ name, input: {} })).toMatchObject({ ok: false, effects: [{ is: "unknown" }] });
    expect(ran).toEqual(["none", "other"]);
  });

  test("[MCP-10] a tool whose answer its server refuses to send has run all the same, whatever shape was declared", async () => {
    const { session: one, ran } = await session([{ name: "film", run: () => ({ content: [{ type: "film" }] }) }]);
    expect(await one.runTool({ name: "film", input: {} })).toMatchObject({ ok: false, effects: [{ is: "unknown" }] });
    expect(ran).toEqual(["film"]);
  });

  test("[MCP-18] a tool that is refused what it asks of its client has begun all the same", async () => {
    const refusals = [
      [-32601, "Method not found"], // its client answers no such questions
      [-32602, "Client does not support form-mode elicitation requests"],
    ] as const;
    for (const [code, message] of refusals) {
      const asks = { name: "asks", run: () => Promise.reject(Object.assign(new Error(message), { code })) };
      const { session: one, ran } = await session([asks]);
      expect(await one.runTool({ name: "asks", input: {} })).toMatchObject({ ok: false, effects: [{ is: "unknown" }] });
      expect(ran).toEqual(["asks"]);
    }
  });

  test("[MCP-18] a call that could not be sent, or that has no arguments to send, did not happen", async () => {
    const { session: one, ran, close } = await session([write]);
    expect(await one.runTool({ name: "write", input: undefined })).toMatchObject({ ok: true });
    for (const input of [[], "text", 7])
      expect(await one.runTool({ name: "write", input })).toMatchObject({ reason: "bad-arguments", effects: [] });
    await close();
    expect(await one.runTool({ name: "write", input: {} })).toMatchObject({ reason: "mcp-failed", effects: [] });
    expect(ran).toEqual(["write"]);
  });

  test("[MCP-19] sessions of two stores that follow one server hear their own answers, also where their calls share an id", async () => {
    const [all, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const whoami: ServedTool = {
      name: "whoami",
      run: async ({ who }, { progress }) => {
        if (who === "b") all.resolve();
        await goOn.promise;
        await progress(`is ${String(who)}`);
        return text(`you are ${String(who)}`);
      },
    };
    const { client } = await connect(whoami);
    const server = await mcpTools(client);
    const heard: string[] = [];
    const running = [];
    for (const who of ["a", "b"]) {
      const { session: one } = await opened(new MemoryDisk(), { tools: server.tools });
      const call = { name: "whoami", input: { who } };
      running.push(one.runTool(call, { onProgress: (said) => heard.push(`${who}: ${said}`) }));
    }
    await all.promise;
    goOn.resolve();
    const [a, b] = await Promise.all(running);
    expect([a?.callId === b?.callId, a?.output, b?.output]).toEqual([true, "you are a", "you are b"]);
    expect(heard.toSorted()).toEqual(["a: is a\n", "b: is b\n"]);
  });

  test("[MCP-5] one that the user lets write is called once, too: what it met ends it as a conflict, with what it did", async () => {
    const { client, ran } = await connect(write);
    const { tools } = await mcpTools(client, { access: { write: "write" } });
    const once: ToolPolicy = {
      name: "counts",
      check: ({ get }) => void get(steps),
      onResult: () => [steps.added("x")],
    };
    const { session: one } = await opened(undefined, { tools, policies: [once] });
    const outcomes = await one.runTools([1, 2].map(() => ({ name: "write", input: {} })));
    expect(outcomes.map(({ reason }) => reason).toSorted()).toEqual(["conflict", "succeeded"]);
    expect(outcomes.flatMap(({ effects }) => effects.map(({ is }) => is)).toSorted()).toEqual([
      "happened",
      "not-undone",
    ]);
    expect(ran).toEqual(["write", "write"]);
  });

  test("[MCP-5] a trusted tool that reads leaves no effect", async () => {
    const { session: one } = await session([echo], { trustAnnotations: true });
    expect((await one.runTool({ name: "echo", input: { text: "x" } })).effects).toEqual([]);
  });

  test("[MCP-6] a stop reaches the server, and its late answer is not applied", async () => {
    const aborted = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const slow: ServedTool = {
      name: "slow",
      run: (_, { signal }) => {
        began.resolve();
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted.resolve();
            resolve(text("too late"));
          });
        });
      },
    };
    const { session: one } = await session([slow]);
    const stop = new AbortController();
    const running = one.runTool({ name: "slow", input: {} }, { signal: stop.signal });
    await began.promise;
    stop.abort();
    expect(await running).toMatchObject({ ok: false, status: "canceled" });
    await aborted.promise;
  });

  test("[MCP-6] progress is told while it works, and time that is up ends it", async () => {
    const heard: string[] = [];
    const told: ServedTool = {
      name: "told",
      run: async (_, { progress }) => {
        await progress("half way");
        return text("done");
      },
    };
    const { session: one } = await session([told]);
    const outcome = await one.runTool({ name: "told", input: {} }, { onProgress: (said) => heard.push(said) });
    expect([outcome.output, heard]).toEqual(["done", ["half way\n"]]);
    const later: ServedTool = { name: "later", run: () => new Promise((end) => setTimeout(end, 20, text("done"))) };
    const { session: patient } = await session([later], { timeoutMs: 2 ** 31 });
    expect((await patient.runTool({ name: "later", input: {} })).output).toBe("done");
    const hangs: ServedTool = { name: "hangs", run: () => new Promise(() => {}) };
    const { session: other } = await session([hangs], { timeoutMs: 60 });
    expect((await other.runTool({ name: "hangs", input: {} })).ok).toBe(false);
  });

  test("[MCP-7] when the server's tools change, sessions that follow offer the others from the next request on", async () => {
    const { session: one, serve, server } = await session([echo, write]);
    const before = one.catalog.snapshot();
    const first = server.tools[0];
    await serve([echo, { ...write, name: "fresh" }]);
    await expect.poll(() => one.catalog.snapshot().activeNames, SOON).toContain("fresh");
    const after = one.catalog.snapshot();
    expect(after.activeNames).not.toContain("write");
    expect(after.epoch).toBeGreaterThan(before.epoch);
    expect(server.tools[0]).toBe(first); // what has not changed is the same tool
    const leave = await server.follow(one);
    leave();
  });

  test("[MCP-7] a list that cannot be had leaves the tools as they were, and is told", async () => {
    const { client, serve } = await connect(echo);
    const server = await mcpTools(client);
    const { session: one } = await opened();
    const failures: unknown[] = [];
    await server.follow(one, (error) => failures.push(error));
    const broken = new Proxy(
      { ...echo },
      { get: (target, key) => (key === "name" ? undefined : Reflect.get(target, key)) },
    );
    await serve([broken]);
    await expect.poll(() => failures.length, SOON).toBeGreaterThan(0);
    expect(one.catalog.snapshot().activeNames).toContain("echo");
  });

  test("[MCP-20] a client that is not connected has no list: the tools stay, and are asked for anew once it is", async () => {
    const { client, close } = await connect(echo);
    const server = await mcpTools(client);
    const { session: one } = await opened();
    await server.follow(one);
    const listing = vi.spyOn(client, "listTools");
    await close();
    const refused = { code: "MCP_NOT_CONNECTED" };
    await expect(server.refresh()).rejects.toMatchObject(refused);
    await expect(mcpTools(client)).rejects.toMatchObject(refused);
    expect(listing).not.toHaveBeenCalled();
    expect(one.catalog.snapshot().activeNames).toContain("echo");
    const again = await session([echo]);
    const asked = vi.spyOn(again.client, "listTools");
    await again.server.refresh();
    expect(asked).toHaveBeenCalledWith({}, { cacheMode: "refresh" }); // version 2 answers from what it keeps
  });

  test("[MCP-7] a session that was closed is followed no more, and disturbs no other", async () => {
    const { client, serve } = await connect(echo);
    const server = await mcpTools(client);
    const [{ session: closed }, { session: open }] = [await opened(), await opened()];
    const failures: unknown[] = [];
    for (const one of [closed, open]) await server.follow(one, (error) => failures.push(error));
    await closed.close();
    await serve([write]);
    await expect.poll(() => open.catalog.snapshot().activeNames, SOON).toContain("write");
    expect(failures).toEqual([]);
  });

  test("[MCP-13] a client that outlives its sessions is left as it was when the last of them is closed, or ends it", async () => {
    const { client } = await connect(echo);
    const before = async () => {};
    client.fallbackNotificationHandler = before;
    const server = await mcpTools(client);
    const [{ session: first }, { session: second }, { session: third }] = [
      await opened(),
      await opened(),
      await opened(),
    ];
    await server.follow(first);
    const leave = await server.follow(second);
    await first.close();
    expect(client.fallbackNotificationHandler).not.toBe(before);
    leave();
    expect(client.fallbackNotificationHandler).toBe(before);
    await third.close();
    await server.follow(third); // too late
    expect(client.fallbackNotificationHandler).toBe(before);
  });

  test("[MCP-13] of several lists of one client only those that are followed are asked for again", async () => {
    const { client, serve } = await connect(echo);
    const [{ session: one }, { session: two }] = [await opened(), await opened()];
    const [ended, follows] = [await mcpTools(client), await mcpTools(client, { prefix: "b_" })];
    const leave = await ended.follow(one);
    await follows.follow(two);
    leave();
    const listing = vi.spyOn(client, "listTools");
    await serve([write]);
    await expect.poll(() => two.catalog.snapshot().activeNames, SOON).toContain("b_write");
    expect(listing).toHaveBeenCalledTimes(1);
  });

  test("[MCP-13] a client whose lists are followed and left in any order is left as it was, and asked once for each change", async () => {
    const { client } = await connect(echo);
    const heard: string[] = [];
    const before = async ({ method }: { method: string }) => void heard.push(method);
    client.fallbackNotificationHandler = before;
    const [{ session: one }, { session: two }] = [await opened(), await opened()];
    const [a, b] = [await mcpTools(client, { prefix: "a_" }), await mcpTools(client, { prefix: "b_" })];
    let leave = [await a.follow(one), await b.follow(two)];
    for (let turn = 0; turn < 3; turn += 1) {
      leave[0]?.();
      leave = [leave[1]!, await (turn % 2 === 0 ? a.follow(one) : b.follow(two))];
    }
    const listing = vi.spyOn(client, "listTools");
    await client.fallbackNotificationHandler?.({ method: "notifications/tools/list_changed" } as never);
    expect([listing.mock.calls.length, heard]).toEqual([2, ["notifications/tools/list_changed"]]);
    for (const end of leave) end();
    expect(client.fallbackNotificationHandler).toBe(before);
  });

  test("[MCP-13] where somebody listens through ours, they go on hearing, and a list that is followed again is asked for once", async () => {
    const { client } = await connect(echo);
    const { session } = await opened();
    const server = await mcpTools(client);
    const leave = await server.follow(session);
    const ours = client.fallbackNotificationHandler;
    let heard = 0;
    const theirs = async (notification: never) => {
      heard += 1;
      await ours?.(notification);
    };
    client.fallbackNotificationHandler = theirs;
    leave();
    expect(client.fallbackNotificationHandler).toBe(theirs);
    const end = await server.follow(session);
    const listing = vi.spyOn(client, "listTools");
    await client.fallbackNotificationHandler?.({ method: "notifications/tools/list_changed" } as never);
    expect([listing.mock.calls.length, heard]).toEqual([1, 1]);
    end();
    expect(client.fallbackNotificationHandler).toBe(theirs);
  });

  test("[MCP-7] who fails at being told of a failure keeps no other from the new tools, nor from hearing of them", async () => {
    const { client, serve } = await connect(echo);
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }: { method: string }) => void heard.push(method);
    const server = await mcpTools(client);
    const [{ session: one }, { session: two }] = [await opened(), await opened(undefined, { tools: [] })];
    const told: unknown[] = [];
    const fails = (error: unknown) => {
      told.push(error);
      throw new Error("the log is full");
    };
    await server.follow(one, fails);
    await server.follow(two, fails);
    await serve([write, { ...echo, name: "step" }]); // a name that the first session has from somebody else
    await expect.poll(() => two.catalog.snapshot().activeNames, SOON).toContain("step");
    await expect.poll(() => heard, SOON).toEqual(["notifications/tools/list_changed"]);
    expect(told).toMatchObject([{ code: "TOOL_NAME_TAKEN" }]);
    const lost = new Error("the line is broken");
    vi.spyOn(client, "listTools").mockRejectedValue(lost);
    await expect(
      client.fallbackNotificationHandler?.({ method: "notifications/tools/list_changed" } as never),
    ).rejects.toThrow("the log is full");
    expect(told.slice(1)).toEqual([lost, lost]);
    expect(heard.length).toBe(2);
  });

  test("[MCP-7] whoever listened to the client before goes on hearing everything", async () => {
    const { client, serve } = await connect(echo);
    const heard: string[] = [];
    client.fallbackNotificationHandler = async ({ method }: { method: string }) => void heard.push(method);
    const server = await mcpTools(client);
    const { session: one } = await opened();
    await server.follow(one);
    await serve([write]);
    await expect.poll(() => one.catalog.snapshot().activeNames, SOON).toContain("write");
    expect(heard).toEqual(["notifications/tools/list_changed"]);
  });

  test("[MCP-9] a server's tool under the name of somebody else's takes neither its place nor it away", async () => {
    const { client, serve } = await connect(write);
    const server = await mcpTools(client);
    const { session: one } = await opened(undefined, { tools: [step] });
    const failures: unknown[] = [];
    await server.follow(one, (error) => failures.push(error));
    for (const stolen of ["step", "recall"]) {
      await serve([{ ...echo, name: stolen }, echo]);
      await expect.poll(() => failures.length, SOON).toBe(stolen === "step" ? 1 : 2);
    }
    for (const error of failures) expect(error).toMatchObject({ code: "TOOL_NAME_TAKEN" });
    expect(one.transactions.tool("step")).toBe(step);
    expect(one.catalog.snapshot().activeNames).toEqual(["recall", "step", "write"]);
    await serve([echo]);
    await expect.poll(() => one.catalog.snapshot().activeNames, SOON).toEqual(["echo", "recall", "step"]);
    expect(failures).toHaveLength(2);
  });

  test("[MCP-11] a server that a session has followed before is followed again, also when its tools have changed", async () => {
    const { client, serve } = await connect(echo, write);
    const server = await mcpTools(client);
    const { session: one } = await opened(undefined, { tools: [step] });
    (await server.follow(one))();
    await serve([{ ...echo, description: "Says it once more." }]);
    await server.refresh();
    expect(one.catalog.snapshot().activeNames).toContain("write"); // it was not followed
    await server.follow(one);
    expect(one.catalog.snapshot().activeNames).toEqual(["echo", "recall", "step"]);
    expect(one.transactions.tool("echo")?.description).toBe("Says it once more.");
  });

  test("[MCP-9] two servers with a tool of one name: the second is refused, and followed under a prefix", async () => {
    const { session: one } = await session([echo]);
    const { client } = await connect(echo, write);
    const second = await mcpTools(client);
    await expect(second.follow(one)).rejects.toMatchObject({ code: "TOOL_NAME_TAKEN", details: { tool: "echo" } });
    expect(one.catalog.snapshot().activeNames).not.toContain("write");
    await (await mcpTools(client, { prefix: "two_" })).follow(one);
    expect(one.catalog.snapshot().activeNames).toEqual(expect.arrayContaining(["echo", "two_echo", "two_write"]));
  });

  test("[MCP-7] tools that come and go together are one change of the catalog", async () => {
    const { session: one, serve } = await session([echo, write]);
    const { epoch } = one.catalog.snapshot();
    await serve([echo, { ...write, name: "fresh" }]);
    await expect.poll(() => one.catalog.snapshot().activeNames, SOON).toContain("fresh");
    expect((await one.align()).catalog.epoch).toBe(epoch + 1);
  });

  test("[MODE-14] [MCP-7] a list that changes while the mode flips never brings a request what plan mode forbids", async () => {
    const { session: one, serve, server } = await session([write], { access: { echo: "read" } });
    const sent: (readonly string[])[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const list = serve(turn % 2 === 0 ? [echo, { ...write, name: `write_${turn}` }] : [write, echo]);
      const flip = one.setMode(turn % 3 === 0 ? "act" : "plan");
      const { catalog } = await one.align();
      if (catalog.mode === "plan") sent.push(catalog.activeNames);
      await Promise.all([list, flip]);
    }
    await server.refresh(); // behind everything that is still on its way
    expect(sent.length).toBeGreaterThan(0);
    for (const names of sent) expect(names.filter((name) => name.startsWith("write"))).toEqual([]);
  });

  test("[MCP-8] in a process of its own: a model's call is done once, also across a restart", async () => {
    const client = await (MCP_STDIO[version] as (typeof MCP_STDIO)[string])();
    connections.push(client);
    const file = join(scratch, `notes-${version.replace(" ", "-")}`);
    const disk = new MemoryDisk();
    const server = await mcpTools(client);
    const { session: one } = await opened(disk, { tools: server.tools });
    const model = scripted([{ calls: [{ name: "note", input: { file, line: "a" } }] }, { text: "ok" }]);
    expect((await watch(one.run("note it", { model }))).end.status).toBe("done");
    await one.close();
    const { session: again } = await opened(disk, { tools: server.tools });
    expect((await again.callRecords()).at(-1)?.outcome_summary.ok).toBe(true);
    expect(readFileSync(file, "utf8")).toBe("a\n");
  });

  test("[MCP-8] a server that dies in a call leaves it failed, with effects that are unknown", async () => {
    const client = await (MCP_STDIO[version] as (typeof MCP_STDIO)[string])();
    connections.push(client);
    const { session: one } = await opened(undefined, { tools: (await mcpTools(client)).tools });
    const file = join(scratch, `died-${version.replace(" ", "-")}`);
    const outcome = await one.runTool({ name: "die", input: { file, line: "x" } });
    expect(outcome).toMatchObject({ ok: false, reason: "mcp-failed", effects: [{ is: "unknown" }] });
    expect(readFileSync(file, "utf8")).toBe("x\n");
  });
});

describe("what cannot work", () => {
  test("[MCP-1] a list without end is refused", async () => {
    const endless = { listTools: async () => ({ tools: [], nextCursor: "again" }), callTool: async () => ({}) };
    await expect(mcpTools(endless)).rejects.toMatchObject({ code: "MCP_LIST_ENDLESS" });
  });

  test("[MCP-1] an option that cannot work is refused by its name", async () => {
    const none = { listTools: async () => ({ tools: [] }), callTool: async () => ({}) };
    await expect(mcpTools(none, { prefix: "a b" })).rejects.toMatchObject({ code: "BAD_OPTION" });
    await expect(mcpTools(none, { trust: true } as object)).rejects.toMatchObject({ code: "BAD_OPTION" });
  });
});
