import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { defineTool, finished, type Session, type SessionOptions, toolResult } from "../../index.ts";
import { startProviderServer } from "../../testing/entry.ts";
import { hanging } from "../../../test/support/calls.ts";
import { scripted } from "../../../test/support/loop.ts";
import { collect } from "../../../test/support/stores.ts";
import { largePicture, PNG } from "../../../test/support/pictures.ts";
import { freshRoot, work } from "../../../test/support/workspaces.ts";
import { holdfastOptions, repairOnLoad, type SessionStore, type StoreEntry, type UnderClaude } from "./entry.ts";

const note = defineTool<{ readonly text: string }>({
  name: "note",
  access: "write",
  run: async ({ text }, call) => {
    await call.files.writeText("note.txt", text);
    return text === "bad" ? call.fail("no", "not that") : `noted ${text}`;
  },
});
const look = defineTool({
  name: "look",
  access: "read",
  run: () => toolResult(["see", { mediaType: "image/png", bytes: PNG }]),
});

/** Far longer than it takes, also where everything is slow. */
const SOON = { timeout: 20_000 };

interface Given {
  readonly hooks?: Readonly<Record<string, readonly unknown[]>>;
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  readonly disallowedTools?: readonly string[];
}

interface Fields {
  readonly [field: string]: unknown;
}

/** The host's side of the contract: the hooks of one event, asked as the SDK asks them. */
async function hosted(how: UnderClaude = {}, options: SessionOptions = {}) {
  const working = await work({ tools: [note, look], ...options });
  const host = await holdfastOptions(working.session, {} as Given, how);
  const ask = async (event: string, fields: Fields = {}) => {
    const matchers = (host.options.hooks?.[event] ?? []) as readonly {
      readonly hooks: readonly ((input: object) => Promise<Fields>)[];
    }[];
    const input = { hook_event_name: event, session_id: "x", ...fields };
    let answer: Fields = {};
    for (const { hooks } of matchers) for (const hook of hooks) answer = { ...answer, ...(await hook(input)) };
    return answer;
  };
  /** A tool of the host's own: the hook before, the work, the hook after. */
  const native = async (name: string, input: Fields, run: () => unknown, id = `toolu_${name}`) => {
    const about = { tool_name: name, tool_input: input, tool_use_id: id };
    const answer = await ask("PreToolUse", about);
    const denied = (answer["hookSpecificOutput"] as Fields | undefined)?.["permissionDecisionReason"];
    if (denied !== undefined) return { denied };
    try {
      await ask("PostToolUse", { ...about, tool_response: run() });
      return { told: answer["systemMessage"] };
    } catch (error) {
      await ask("PostToolUseFailure", { ...about, error: String(error) });
      return { failed: true };
    }
  };
  return { ...working, host, ask, native };
}

async function closings(session: Session) {
  return (await collect(session.read())).filter((entry) => entry.kind === "call-closed");
}

const clients: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of clients.splice(0)) await one.close();
});

/** A real MCP client at the server that the host is given. */
async function clientOf(host: Awaited<ReturnType<typeof hosted>>["host"]): Promise<Client> {
  const { instance } = (
    host.options.mcpServers as Record<string, { instance: { connect(t: unknown): Promise<void> } }>
  )["holdfast"] as { instance: { connect(t: unknown): Promise<void> } };
  const [here, there] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "host", version: "1.0.0" });
  await Promise.all([instance.connect(there), client.connect(here)]);
  clients.push(client);
  return client;
}

describe("the session's tools", () => {
  test("[CLAUDE-1] are a server's: listed, run as transactions, failing as failures, with their parts", async () => {
    const { host, session, root } = await hosted();
    const client = await clientOf(host);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["hand", "look", "note", "once", "recall"]);
    expect(tools.find(({ name }) => name === "look")?.annotations?.readOnlyHint).toBe(true);
    const good = await client.callTool({
      name: "note",
      arguments: { text: "x" },
      _meta: { "claudecode/toolUseId": "toolu_1" },
    });
    expect(good).toMatchObject({ content: [{ type: "text", text: "noted x" }] });
    const bad = await client.callTool({ name: "note", arguments: { text: "bad" } });
    expect(bad).toMatchObject({ isError: true });
    expect(readFileSync(join(root, "note.txt"), "utf8")).toBe("x");
    const seen = await client.callTool({ name: "look", arguments: {} });
    expect(seen.content[1]).toMatchObject({ type: "image", data: Buffer.from(PNG).toString("base64") });
    const opened = (await collect(session.read())).filter((entry) => entry.kind === "call-opened");
    expect(opened[0]).toMatchObject({ tool: "note", alias: "toolu_1" });
    expect(await closings(session)).toHaveLength(3);
    const offered = (await collect(session.read())).findLast((entry) => entry.kind === "catalog-changed");
    expect(JSON.stringify(offered?.tools)).toContain('"note"');
  });

  test("[CLAUDE-1] in plan mode only what reads is listed and runs", async () => {
    const { host, session, root } = await hosted();
    const client = await clientOf(host);
    await session.setMode("plan");
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["look", "recall"]);
    expect(await client.callTool({ name: "note", arguments: { text: "leak" } })).toMatchObject({ isError: true });
    expect(existsSync(join(root, "note.txt"))).toBe(false);
  });

  test("[CLAUDE-10] one that needs consent is the host's to ask about, and runs once for each consent", async () => {
    const ran: string[] = [];
    const deploy = defineTool({ name: "deploy", access: "write", approval: true, run: () => void ran.push("ran") });
    const { host, ask, session } = await hosted({}, { tools: [deploy, note] });
    const client = await clientOf(host);
    const call = (id: string) =>
      client.callTool({ name: "deploy", arguments: {}, _meta: { "claudecode/toolUseId": id } });
    const about = { tool_name: "mcp__holdfast__deploy", tool_input: {}, tool_use_id: "toolu_1" };
    expect(await ask("PreToolUse", about)).toMatchObject({ hookSpecificOutput: { permissionDecision: "ask" } });
    expect(await call("toolu_other")).toMatchObject({ isError: true });
    expect(ran).toEqual([]);
    expect((await call("toolu_1")).isError).not.toBe(true);
    expect(await call("toolu_1")).toMatchObject({ isError: true });
    expect(ran).toEqual(["ran"]);
    await session.setMode("plan");
    expect(await ask("PreToolUse", { ...about, tool_use_id: "toolu_2" })).toEqual({});
    expect(await call("toolu_2")).toMatchObject({ content: [{ text: expect.stringMatching(/^Plan mode is on/) }] });
  });

  test("[CLAUDE-1] a stop of the client, and its going, stop the call", async () => {
    const { tool: slow, reached } = hanging("slow", "write");
    const { host, session } = await hosted({}, { tools: [slow] });
    const client = await clientOf(host);
    const stop = new AbortController();
    const running = client.callTool({ name: "slow", arguments: {} }, { signal: stop.signal });
    await reached;
    stop.abort();
    await expect(running).rejects.toThrow(/abort/i);
    await expect.poll(async () => (await closings(session)).map(({ status }) => status), SOON).toEqual(["canceled"]);
  });
});

describe("the host's own tools", () => {
  test("[CLAUDE-2] are opened before they run and closed as the host says", async () => {
    const { native, session, host } = await hosted();
    const during: unknown[] = [];
    await native("Bash", { command: "ls" }, () => {
      during.push(host.open, session.openCalls.length);
      return { stdout: "a", stderr: "Error: on standard error, which means nothing" };
    });
    expect(during).toEqual([["toolu_Bash"], 1]);
    await native(
      "Bash",
      { command: "false" },
      () => {
        throw new Error("exit code 1");
      },
      "toolu_2",
    );
    await native(
      "Read",
      { file_path: "a" },
      () => ({ success: false, text: "the host calls it a success" }),
      "toolu_3",
    );
    expect((await closings(session)).map(({ tool, status, reason }) => [tool, status, reason])).toEqual([
      ["Bash", "success", undefined],
      ["Bash", "failed", "host-failed"],
      ["Read", "success", undefined],
    ]);
    expect(host.open).toEqual([]);
  });

  test("[CLAUDE-2] calls that end in any order, twice, or were never begun hold up nobody", async () => {
    const { ask, session } = await hosted();
    const about = (id: string) => ({ tool_name: "Bash", tool_input: { command: id }, tool_use_id: id });
    await Promise.all(["a", "b", "c"].map((id) => ask("PreToolUse", about(id))));
    await ask("PostToolUse", { ...about("c"), tool_response: "c" });
    await ask("PostToolUse", { ...about("nobody"), tool_response: "?" });
    await Promise.all([
      ask("PostToolUse", { ...about("a"), tool_response: "a" }),
      ask("PostToolUseFailure", { ...about("a"), error: "late" }),
      ask("PostToolUseFailure", { ...about("b"), error: "broke" }),
    ]);
    expect((await closings(session)).map(({ status }) => status).toSorted()).toEqual(["failed", "success", "success"]);
    expect(session.openCalls).toEqual([]);
  });

  test("[CLAUDE-11] ids that a model uses again, one after the other or at once, are calls of their own", async () => {
    const { native, ask, session, host } = await hosted();
    const id = "functions.Bash:0";
    await native("Bash", { command: "a" }, () => "a", id);
    await native("Bash", { command: "b" }, () => "b", id);
    const about = { tool_name: "Bash", tool_input: {}, tool_use_id: id };
    await Promise.all([ask("PreToolUse", about), ask("PreToolUse", about)]);
    expect(host.open).toEqual([id, id]);
    for (const tool_response of ["c", "d"]) await ask("PostToolUse", { ...about, tool_response });
    expect((await closings(session)).map(({ status, output }) => [status, output])).toEqual(
      ["a", "b", "c", "d"].map((output) => ["success", output]),
    );
    expect(session.openCalls).toEqual([]);
  });

  test("[CLAUDE-11] one whose file cannot even be looked at does not run, and is not left open", async () => {
    const { ask, session, host } = await hosted({ fileTools: "kept" });
    const about = { tool_name: "Write", tool_input: { file_path: "a.txt" }, tool_use_id: "t1" };
    vi.spyOn(session.files, "read").mockRejectedValueOnce(new TypeError("the disk is gone"));
    await expect(ask("PreToolUse", about)).rejects.toThrow("the disk is gone");
    expect([session.openCalls, host.open]).toEqual([[], []]);
    expect((await closings(session)).map(({ status }) => status)).toEqual(["canceled"]);
  });

  test("[CLAUDE-12] a call of a sub-agent goes on when the host's turn ends, and ends with its agent", async () => {
    const { ask, session, host } = await hosted();
    const by = (agent_id: string | undefined) => ({
      tool_name: "Bash",
      tool_input: {},
      tool_use_id: "functions.Bash:0",
      ...(agent_id === undefined ? {} : { agent_id }),
    });
    for (const agent of [undefined, "one", "two"]) await ask("PreToolUse", by(agent));
    await ask("PostToolUse", { ...by("two"), tool_response: "two" });
    await ask("Stop");
    expect(host.open).toHaveLength(1);
    await ask("SubagentStop", { agent_id: "two" });
    await ask("PostToolUse", { ...by("one"), tool_response: "one" });
    expect((await closings(session)).map(({ status, output }) => [status, output])).toEqual([
      ["success", "two"],
      ["canceled", expect.any(String)],
      ["success", "one"],
    ]);
    await ask("PreToolUse", by("two"));
    await ask("SubagentStop", { agent_id: "two" });
    expect(host.open).toEqual([]);
  });

  test("[CLAUDE-12] a sub-agent that has ended and is not named ends no call of the host's", async () => {
    const { ask, session, host } = await hosted();
    const about = { tool_name: "Task", tool_input: {}, tool_use_id: "t1" };
    await ask("PreToolUse", about);
    await ask("SubagentStop");
    expect(host.open).toEqual(["t1"]);
    await ask("PostToolUse", { ...about, tool_response: "found" });
    expect(await closings(session)).toMatchObject([{ status: "success", output: "found" }]);
  });

  test("[CLAUDE-13] of a call that nobody permitted, nothing is said to have happened", async () => {
    const { ask, session } = await hosted();
    const about = (id: string) => ({ tool_name: "Bash", tool_input: { command: "rm x" }, tool_use_id: id });
    await ask("PreToolUse", about("t1"));
    await ask("PermissionDenied", { ...about("t1"), reason: "Not that." });
    for (const id of ["t2", "t3"]) await ask("PreToolUse", about(id));
    await ask("PostToolUse", { ...about("t3"), tool_response: "ran" });
    const tool_calls = [
      { ...about("t2"), tool_response: "Not that either." },
      { ...about("t3"), tool_response: "ran" },
    ];
    await ask("PostToolBatch", { tool_calls });
    expect((await closings(session)).map(({ status, reason, effects }) => [status, reason, effects])).toEqual([
      ["failed", "denied", "none"],
      ["success", undefined, "happened"],
      ["failed", "denied", "none"],
    ]);
    expect(JSON.stringify((await closings(session)).at(-1)?.output)).toContain("Not that either.");
  });

  test("[CLAUDE-13] of one whose end was never told, it is unknown whether it happened", async () => {
    const { ask, session } = await hosted();
    await ask("PreToolUse", { tool_name: "Bash", tool_input: {}, tool_use_id: "t1" });
    await ask("Stop");
    expect(await closings(session)).toMatchObject([{ status: "canceled", effects: "unknown" }]);
  });

  test("[CLAUDE-14] the host's plan mode can be left, and its user be asked in it", async () => {
    const { ask, host } = await hosted();
    for (const tool_name of ["AskUserQuestion", "ExitPlanMode"]) {
      const about = { tool_name, tool_input: {}, tool_use_id: tool_name };
      expect(await ask("PreToolUse", { ...about, permission_mode: "plan" })).toEqual({});
      await ask("PostToolUse", { ...about, tool_response: {} });
    }
    expect(host.open).toEqual([]);
  });

  test("[CLAUDE-3] what only looks runs in plan mode, the session's and the host's", async () => {
    const { ask, session, host } = await hosted();
    await session.setMode("plan");
    for (const tool_name of ["Read", "LSP", "BashOutput", "TaskOutput", "ListMcpResourcesTool"]) {
      const about = { tool_name, tool_input: {}, tool_use_id: tool_name };
      expect(await ask("PreToolUse", { ...about, permission_mode: "plan" })).toEqual({});
      await ask("PostToolUse", { ...about, tool_response: "seen" });
    }
    expect(host.open).toEqual([]);
  });

  test("[CLAUDE-3] what the mode or a policy does not let through is denied with the words", async () => {
    const { native, ask, session } = await hosted(
      {},
      {
        policies: [
          {
            name: "no-curl",
            check: ({ input }) => (JSON.stringify(input).includes("curl") ? "No curl here." : undefined),
          },
        ],
      },
    );
    expect(await native("Bash", { command: "curl x" }, () => "ran")).toEqual({ denied: "No curl here." });
    await session.setMode("plan");
    expect((await native("Bash", { command: "ls" }, () => "ran", "t2")).denied).toMatch(/^Plan mode is on/);
    expect((await native("SomethingNew", {}, () => "ran", "t3")).denied).toMatch(/^Plan mode is on/);
    expect(await native("Read", { file_path: "a" }, () => "text", "t4")).toEqual({ told: undefined });
    await session.setMode("act");
    const inHostsPlan = { permission_mode: "plan", tool_input: {}, tool_use_id: "t5" };
    for (const tool_name of ["Bash", "mcp__holdfast__note"])
      expect(await ask("PreToolUse", { ...inHostsPlan, tool_name })).toMatchObject({
        hookSpecificOutput: { permissionDecision: "deny" },
      });
    expect(await ask("PreToolUse", { ...inHostsPlan, tool_name: "mcp__holdfast__look" })).toEqual({});
  });

  test("[CLAUDE-3] a hook that cannot tell keeps the call from running", async () => {
    const { host, session, ask } = await hosted();
    const [ours] = (host.options.hooks?.["PreToolUse"] ?? []) as readonly { readonly onFailure?: string }[];
    expect(ours?.onFailure).toBe("block");
    await session.close();
    await expect(ask("PreToolUse", { tool_name: "Bash", tool_input: {}, tool_use_id: "t" })).rejects.toMatchObject({
      code: "JOURNAL_CLOSED",
    });
  });
});

describe("files that the host writes itself", () => {
  test("[CLAUDE-4] one that is not known, of another server or a newer host, reaches outside and is reported as not undone", async () => {
    const { native, session, host } = await hosted();
    const failing = () => {
      throw new Error("it broke off");
    };
    await native("mcp__tracker__create", { title: "x" }, failing);
    const [closing] = await closings(session);
    expect(closing).toMatchObject({ tool: "mcp__tracker__create", status: "failed", effects: "happened" });
    expect(JSON.stringify(closing?.output)).toMatch(/not undone/);
    const { tools } = await (await clientOf(host)).listTools();
    expect(tools.map(({ name }) => name)).not.toContain("mcp__tracker__create");
  });

  test("[CLAUDE-2] of two queries in one session end each for itself", async () => {
    const { ask, session } = await hosted();
    const second = await holdfastOptions(session, {} as Given);
    const [before] = (second.options.hooks?.["PreToolUse"] ?? []) as readonly {
      readonly hooks: readonly ((input: object) => Promise<Fields>)[];
    }[];
    const about = (id: string) => ({ tool_name: "Bash", tool_input: { command: id }, tool_use_id: id });
    await ask("PreToolUse", about("a"));
    await before?.hooks[0]?.({ hook_event_name: "PreToolUse", session_id: "y", ...about("b") });
    expect([session.openCalls.length, second.open]).toEqual([2, ["b"]]);
    await second.leave();
    await ask("PostToolUse", { ...about("a"), tool_response: "a" });
    expect((await closings(session)).map(({ status }) => status)).toEqual(["canceled", "success"]);
  });

  test("[CLAUDE-1] under whose names the session has tools are refused", async () => {
    const bash = defineTool({ name: "Bash", access: "read", run: () => "mine" });
    await expect(hosted({}, { tools: [bash] })).rejects.toMatchObject({
      code: "TOOL_NAME_TAKEN",
      details: { tool: "Bash", by: "the host" },
    });
  });

  test("[CLAUDE-4] are refused unless they are kept", async () => {
    const { host } = await hosted();
    expect(host.options.disallowedTools).toEqual(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
    expect((await hosted({ fileTools: "kept" })).host.options.disallowedTools).toBeUndefined();
  });

  test("[CLAUDE-4] kept: a failure brings back what was there, and removes what was not", async () => {
    const { native, root, session } = await hosted({ fileTools: "kept" });
    const old = join(root, "old.txt");
    writeFileSync(old, "before");
    const breaks = (path: string) => () => {
      writeFileSync(path, "half");
      throw new Error("disk full");
    };
    await native("Edit", { file_path: old }, breaks(old), "t1");
    await native("Write", { file_path: join(root, "new.txt") }, breaks(join(root, "new.txt")), "t2");
    expect(readFileSync(old, "utf8")).toBe("before");
    expect(existsSync(join(root, "new.txt"))).toBe(false);
    expect((await closings(session)).map(({ effects }) => effects)).toEqual(["none", "none"]);
  });

  test("[CLAUDE-4] a rewind brings back what succeeded, and leaves what somebody else changed since", async () => {
    const { native, root, session } = await hosted({ fileTools: "kept" });
    const [a, b] = [join(root, "a.txt"), join(root, "b.txt")];
    for (const [path, id] of [
      [a, "t1"],
      [b, "t2"],
    ] as const) {
      writeFileSync(path, "before");
      await native("Write", { file_path: path }, () => writeFileSync(path, "by the host"), id);
    }
    writeFileSync(b, "by somebody else");
    const [first] = await closings(session);
    const report = await session.rewind({ before: first?.callId ?? "" });
    expect(readFileSync(a, "utf8")).toBe("before");
    expect(readFileSync(b, "utf8")).toBe("by somebody else");
    expect(report.effects.map(({ is }) => is)).toEqual(["not-undone", "undone"]);
  });

  test("[CLAUDE-4] what cannot be brought back is told before it runs, and reported", async () => {
    const { native, root, session } = await hosted({ fileTools: "kept" });
    const big = join(root, "big.bin");
    writeFileSync(big, Buffer.concat(Array.from({ length: 6 }, () => largePicture())));
    expect((await native("Write", { file_path: big }, () => "ok", "t1")).told).toContain("cannot be brought back");
    const outside = join(freshRoot().root, "x.txt");
    expect((await native("Write", { file_path: outside }, () => "ok", "t2")).told).toContain("cannot be brought back");
    const [first] = await closings(session);
    const { effects } = await session.rewind({ before: first?.callId ?? "", dryRun: true });
    expect(effects.map(({ name }) => name)).toEqual(["native", "native"]);
  });
});

describe("files that are not where they seem", () => {
  const breaks = (path: string) => () => {
    writeFileSync(path, "half");
    throw new Error("disk full");
  };

  test("[CLAUDE-15] one outside, by its path or behind a link, is never said to have been brought back", async () => {
    const { native, root, session } = await hosted({ fileTools: "kept" });
    const outside = join(root, "..", "outside.txt");
    writeFileSync(outside, "before");
    symlinkSync(outside, join(root, "link.txt"));
    for (const [nth, path] of ["../outside.txt", "link.txt"].entries()) {
      await native("Write", { file_path: `${root}/${path}` }, breaks(outside), `t${nth}`);
      const closing = (await closings(session))[nth];
      expect([closing?.effects, JSON.stringify(closing?.output)]).toEqual([
        "happened",
        expect.stringContaining("not undone"),
      ]);
    }
  });

  test("[CLAUDE-15] one behind a link is brought back, unless somebody else has changed it since", async () => {
    const { native, root, session } = await hosted({ fileTools: "kept" });
    const [real, link] = [join(root, "real.txt"), join(root, "link.txt")];
    writeFileSync(real, "before");
    symlinkSync(real, link);
    await native("Write", { file_path: link }, breaks(real), "t1");
    expect(readFileSync(real, "utf8")).toBe("before");
    await native("Write", { file_path: link }, () => writeFileSync(real, "by the host"), "t2");
    writeFileSync(real, "by somebody else");
    const report = await session.rewind({ before: (await closings(session)).at(-1)?.callId ?? "" });
    expect(readFileSync(real, "utf8")).toBe("by somebody else");
    expect(report.effects.map(({ is }) => is)).toEqual(["not-undone"]);
  });

  test("[CLAUDE-15] a relative path begins where the host is", async () => {
    const { ask, root } = await hosted({ fileTools: "kept" });
    mkdirSync(join(root, "sub"));
    for (const path of ["a.txt", "sub/a.txt"]) writeFileSync(join(root, path), path);
    const about = { tool_name: "Write", tool_input: { file_path: "a.txt" }, tool_use_id: "t1", cwd: join(root, "sub") };
    await ask("PreToolUse", about);
    writeFileSync(join(root, "sub/a.txt"), "half");
    await ask("PostToolUseFailure", { ...about, error: "disk full" });
    expect(readFileSync(join(root, "sub/a.txt"), "utf8")).toBe("sub/a.txt");
  });
});

describe("the life of a turn", () => {
  test("[CLAUDE-5] what is left open is closed as canceled when the turn ends, or the host goes", async () => {
    const { ask, host, session, root } = await hosted({ fileTools: "kept" });
    const path = join(root, "x.txt");
    const about = { tool_name: "Write", tool_input: { file_path: path }, tool_use_id: "t1" };
    await ask("PreToolUse", about);
    writeFileSync(path, "half");
    await ask("Stop");
    expect(existsSync(path)).toBe(false);
    await ask("PreToolUse", { ...about, tool_use_id: "t2" });
    await ask("StopFailure", { error: "overloaded" });
    expect(host.open).toEqual([]);
    await ask("PreToolUse", { ...about, tool_use_id: "t2" });
    await host.leave();
    expect((await closings(session)).map(({ status }) => status)).toEqual(["canceled", "canceled", "canceled"]);
    await ask("PreToolUse", { ...about, tool_use_id: "t3" });
    await ask("PermissionDenied", { ...about, tool_use_id: "t3" });
    expect(host.open).toEqual([]);
  });

  test("[CLAUDE-6] the user's words and compactions are in the journal, with a checkpoint before them", async () => {
    const { ask, session } = await hosted();
    await ask("UserPromptSubmit", { prompt: "Do it." });
    await ask("PreCompact", { trigger: "auto" });
    const kinds = (await collect(session.read())).map(({ kind }) => kind);
    expect(kinds.filter((kind) => ["user-said", "boundary-crossed", "checkpoint-kept"].includes(kind))).toEqual([
      "user-said",
      "boundary-crossed",
      "checkpoint-kept",
    ]);
  });

  test("[CLAUDE-6] what the session must not lose is written back before the host compacts", async () => {
    const { ask, session } = await hosted();
    const kept = {
      kind: "preference",
      page: "style",
      field: "notes",
      op: "append",
      value: "tabs",
      scope: "session",
    } as const;
    await session.writeback.stage(kept);
    expect(await ask("PreCompact", { trigger: "auto" })).toEqual({});
    const kinds = (await collect(session.read())).map(({ kind }) => kind);
    expect(kinds.indexOf("writeback-committed")).toBeGreaterThan(0);
    expect(kinds.indexOf("writeback-committed")).toBeLessThan(kinds.indexOf("boundary-crossed"));
    expect(session.writeback.pending).toEqual([]);
  });

  test("[CLAUDE-7] the user's options stay, and ours stand before them", async () => {
    const { session } = await work({ tools: [note] });
    const theirs = { hooks: [async () => ({})] };
    const given = {
      model: "m",
      allowedTools: ["Read"],
      disallowedTools: ["Task"],
      mcpServers: { other: {} },
      hooks: { PreToolUse: [theirs], Notification: [theirs] },
    };
    const { options } = await holdfastOptions(session, given, { server: "hf" });
    expect(options.model).toBe("m");
    expect(options.allowedTools).toEqual([
      "Read",
      "mcp__hf__hand",
      "mcp__hf__once",
      "mcp__hf__note",
      "mcp__hf__recall",
    ]);
    expect(options.disallowedTools?.[0]).toBe("Task");
    expect(Object.keys(options.mcpServers)).toEqual(["other", "hf"]);
    expect(options.hooks.PreToolUse).toHaveLength(2);
    expect((options.hooks.PreToolUse as readonly unknown[])[1]).toBe(theirs);
    expect(options.hooks.Notification).toEqual([theirs]);
  });

  test("[CLAUDE-7] a name that a server of the user's has is refused, and options that are ours already", async () => {
    const { session } = await work({ tools: [note] });
    const refused = { code: "BAD_OPTION", details: { option: "server" } };
    await expect(holdfastOptions(session, { mcpServers: { holdfast: {} } })).rejects.toMatchObject(refused);
    const { options } = await holdfastOptions(session, {} as Given);
    await expect(holdfastOptions(session, options)).rejects.toMatchObject(refused);
  });
});

describe("the host's own tools in the session", () => {
  test("[CLAUDE-17] are offered by the host alone, before it is gone and afterwards", async () => {
    const { native, session, host } = await hosted({}, { tools: [note] });
    await native("mcp__other__search", {}, () => "found");
    const names = ["hand", "note", "once", "recall"];
    const offered = async () => [(await session.align()).catalog.activeNames, session.transactions.tools.length];
    expect(await offered()).toEqual([names, names.length]);
    const answers = [{ calls: [{ name: "Bash", input: { command: "ls" } }] }, { text: "done" }];
    expect(await finished(session.run("go on", { model: scripted(answers) }))).toMatchObject({ status: "done" });
    expect((await closings(session)).at(-1)).toMatchObject({
      tool: "Bash",
      reason: "denied",
      output: expect.stringContaining("was not offered to you"),
    });
    await host.leave();
    expect(await offered()).toEqual([names, names.length]);
    const catalogs = (await collect(session.read())).filter(({ kind }) => kind === "catalog-changed");
    expect(JSON.stringify(catalogs)).not.toContain("Bash");
  });

  test("[CLAUDE-17] are never taken for one of the session's under a name that only the host knew", async () => {
    const skill = defineTool({ name: "Skill", access: "read", run: () => "mine" });
    const { ask, session, host } = await hosted({}, { tools: [skill] });
    const about = { tool_name: "Skill", tool_input: {}, tool_use_id: "t1" };
    await expect(ask("PreToolUse", { ...about, permission_mode: "plan" })).rejects.toMatchObject({
      code: "TOOL_NAME_TAKEN",
      details: { tool: "Skill", by: "the host" },
    });
    expect([session.openCalls, host.open]).toEqual([[], []]);
    expect((await session.runTool({ name: "Skill", input: {} })).output).toBe("mine");
  });
});

describe("a host that does not wait", () => {
  const about = { tool_name: "Bash", tool_input: {}, tool_use_id: "t1" };
  /** The host's hook, while its call is being written down. */
  async function opening(signal?: AbortSignal) {
    const one = await hosted();
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const begin = one.session.begin.bind(one.session);
    vi.spyOn(one.session, "begin").mockImplementationOnce(async (call) => {
      reached.resolve();
      await goOn.promise;
      return begin(call);
    });
    const [ours] = (one.host.options.hooks?.["PreToolUse"] ?? []) as readonly {
      readonly hooks: readonly ((input: object, id: string, asking: object) => Promise<Fields>)[];
    }[];
    const asked = ours?.hooks[0]?.({ hook_event_name: "PreToolUse", session_id: "x", ...about }, "t1", { signal });
    await reached.promise;
    return { ...one, asked, goOn: goOn.resolve };
  }

  test("[CLAUDE-18] finds no call open once it has left, also none that was being opened", async () => {
    const { host, session, goOn } = await opening();
    const left = host.leave();
    goOn();
    await left;
    expect([session.openCalls, host.open]).toEqual([[], []]);
    expect((await closings(session)).map(({ status }) => status)).toEqual(["canceled"]);
  });

  test("[CLAUDE-18] for the answer has it not run, and nothing is said to have happened", async () => {
    const stop = new AbortController();
    const { host, session, ask, asked, goOn } = await opening(stop.signal);
    await ask("PreToolUse", { ...about, tool_input: { command: "another of the same id" } });
    stop.abort();
    goOn();
    expect(await asked).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
    expect([session.openCalls.length, host.open]).toEqual([1, ["t1"]]);
    expect(await closings(session)).toMatchObject([{ reason: "denied", effects: "none" }]);
    await ask("PostToolUse", { ...about, tool_response: "ran" });
    expect((await closings(session)).at(-1)).toMatchObject({ status: "success", output: "ran" });
  });

  test("[CLAUDE-18] for the session's tools finds their calls closed when it has left", async () => {
    const { tool: slow, reached } = hanging("slow", "write");
    const { host, session } = await hosted({}, { tools: [slow] });
    const client = await clientOf(host);
    const running = client.callTool({ name: "slow", arguments: {} });
    running.catch(() => {});
    await reached;
    await host.leave();
    expect(session.openCalls).toEqual([]);
    expect(await closings(session)).toMatchObject([{ status: "canceled" }]);
    await expect(running).rejects.toThrow(/closed/i);
  });
});

test("[CLAUDE-19] what the host calls a success and the session did not keep is told to the host and its model", async () => {
  const { ask, session, root } = await hosted({ fileTools: "kept" });
  const path = join(root, "a.txt");
  const about = { tool_name: "Write", tool_input: { file_path: path }, tool_use_id: "t1" };
  await ask("PreToolUse", about);
  writeFileSync(path, "by the host");
  await session.setMode("plan");
  const told = expect.stringMatching(/^Holdfast: Write ran, and what it did does not count\. .*plan mode/);
  expect(await ask("PostToolUse", { ...about, tool_response: "written" })).toEqual({
    systemMessage: told,
    hookSpecificOutput: { hookEventName: "PostToolUse", additionalContext: told },
  });
  expect(existsSync(path)).toBe(false);
});

test("[CLAUDE-19] an answer that cannot be kept is no failure, and takes nothing back", async () => {
  const { native, session, root } = await hosted({ fileTools: "kept" });
  const path = join(root, "a.txt");
  let deep: unknown = "end";
  for (let level = 0; level < 200; level += 1) deep = [deep];
  const write = () => {
    writeFileSync(path, "by the host");
    return deep;
  };
  expect(await native("Write", { file_path: path }, write)).toEqual({ told: undefined });
  expect(readFileSync(path, "utf8")).toBe("by the host");
  expect(await closings(session)).toMatchObject([
    { status: "success", output: expect.stringContaining("cannot be kept") },
  ]);
});

test("[CLAUDE-20] a mode that was flipped, and tools that came, are told before the host's next request", async () => {
  const { host, ask, session } = await hosted();
  const client = await clientOf(host);
  let told = 0;
  client.setNotificationHandler("notifications/tools/list_changed", () => void (told += 1));
  await client.listTools();
  await ask("PostToolBatch", { tool_calls: [] });
  expect(told).toBe(0);
  await session.setMode("plan");
  await ask("PostToolBatch", { tool_calls: [] });
  await expect.poll(() => told, SOON).toBe(1);
  await session.setMode("act");
  await session.catalog.add([defineTool({ name: "more", access: "read", run: () => "more" })]);
  for (let nth = 0; nth < 2; nth += 1) await ask("UserPromptSubmit", { prompt: "And now?" });
  await expect.poll(() => told, SOON).toBe(2);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("more");
});

test("[CLAUDE-16] a tool whose name the host writes in other letters is known as ours all the same", async () => {
  const look2 = defineTool({ name: "fs.look", access: "read", run: () => "seen" });
  const deploy = defineTool({ name: "de.ploy", access: "write", approval: true, run: () => "deployed" });
  const { host, ask } = await hosted({}, { tools: [look2, deploy] });
  const { allowedTools } = host.options as { readonly allowedTools?: readonly string[] };
  expect(allowedTools).toEqual(expect.arrayContaining(["mcp__holdfast__fs_look", "mcp__holdfast__de_ploy"]));
  const about = (tool_name: string) => ({ tool_name, tool_input: {}, tool_use_id: tool_name });
  expect(await ask("PreToolUse", { ...about("mcp__holdfast__fs_look"), permission_mode: "plan" })).toEqual({});
  expect(await ask("PreToolUse", about("mcp__holdfast__de_ploy"))).toMatchObject({
    hookSpecificOutput: { permissionDecision: "ask" },
  });
  const client = await clientOf(host);
  const _meta = { "claudecode/toolUseId": "mcp__holdfast__de_ploy" };
  expect(await client.callTool({ name: "de.ploy", arguments: {}, _meta })).toMatchObject({
    content: [{ text: "deployed" }],
  });
});

test("[CLAUDE-16] a server's name that the host would write in other letters is refused", async () => {
  const { session } = await work({ tools: [note] });
  for (const server of ["my server", "héllo", "a.b", ""])
    await expect(holdfastOptions(session, {} as Given, { server })).rejects.toMatchObject({ code: "BAD_OPTION" });
  const { options } = await holdfastOptions(session, {} as { readonly allowedTools?: readonly string[] }, {
    server: "my-server_2",
  });
  expect(options.allowedTools).toContain("mcp__my-server_2__note");
});

describe("sessions of the host", () => {
  const entry = (
    type: "user" | "assistant",
    uuid: string,
    parentUuid: string | null,
    content: unknown,
  ): StoreEntry => ({
    type,
    uuid,
    parentUuid,
    sessionId: "s",
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role: type, content, ...(type === "assistant" ? { id: `msg_${uuid}` } : {}) },
  });
  const uses = [{ type: "tool_use", id: "toolu_1", name: "Bash", input: {} }];
  const sound = [
    entry("user", "u1", null, "go"),
    entry("assistant", "a1", "u1", uses),
    entry("user", "u2", "a1", [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }]),
  ];
  class Kept implements SessionStore {
    readonly entries: StoreEntry[];
    constructor(entries: readonly StoreEntry[]) {
      this.entries = [...entries];
    }
    async append(_: unknown, entries: StoreEntry[]) {
      this.entries.push(...entries);
    }
    async load(_key: unknown) {
      return this.entries.length === 0 ? null : this.entries;
    }
  }
  const key = { projectKey: "p", sessionId: "s" };

  test("[CLAUDE-8] a call that a crash left unanswered is answered in what is loaded, not in what is kept", async () => {
    const kept = new Kept(sound.slice(0, 2));
    const repairs: unknown[] = [];
    const store = repairOnLoad(kept, (repair) => repairs.push(repair));
    const loaded = (await store.load(key)) ?? [];
    expect(loaded.slice(0, 2)).toEqual(sound.slice(0, 2));
    expect(loaded[2]).toMatchObject({
      type: "user",
      parentUuid: "a1",
      message: { content: [{ type: "tool_result", tool_use_id: "toolu_1", is_error: true }] },
    });
    expect(kept.entries).toHaveLength(2);
    expect(repairs).toMatchObject([{ key, findings: ["missing-output"] }]);
    await store.append(key, loaded.slice(2));
    expect(await store.load(key)).toBe(kept.entries); // now it is whole, and nothing is touched
  });

  test("[CLAUDE-8] a sound session comes back as it is, and a missing one as missing", async () => {
    const kept = new Kept(sound);
    expect(await repairOnLoad(kept).load(key)).toBe(kept.entries);
    expect(await repairOnLoad(new Kept([])).load(key)).toBeNull();
  });
});

const sdk = process.env["HOLDFAST_CLAUDE_SDK"];

describe.skipIf(sdk === undefined)("the real runtime", () => {
  test("[CLAUDE-9] a turn with both kinds of tools, against the strict server", async () => {
    const { query } = (await import(pathToFileURL(join(sdk ?? "", "sdk.mjs")).href)) as {
      readonly query: (
        asked: object,
      ) => AsyncIterable<{ readonly type: string; readonly subtype?: string; readonly result?: string }>;
    };
    const { session, root } = await work({ tools: [note, look] });
    let main = 0;
    const script = (asked: { readonly request: unknown }) => {
      const body = JSON.stringify(asked.request);
      if (!body.includes("mcp__holdfast__note")) return { text: "ok" }; // the runtime asks for a title, and such
      main += 1;
      if (main === 1) return { calls: [{ name: "mcp__holdfast__note", input: { text: "hello" } }] };
      if (main === 2)
        return { calls: [{ name: "Bash", input: { command: "echo from the host > host.txt", description: "x" } }] };
      return { text: "All done." };
    };
    const server = await startProviderServer({ script });
    const config = freshRoot().root;
    const host = await holdfastOptions(session, {
      cwd: root,
      model: "claude-sonnet-4-5",
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
      settingSources: [],
      env: {
        ...process.env,
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: "k",
        CLAUDE_CONFIG_DIR: config,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        IS_SANDBOX: "1",
      },
    });
    let last: { readonly subtype?: string; readonly result?: string } = {};
    for await (const message of query({ prompt: "Take a note.", options: host.options }))
      if (message.type === "result") last = message;
    await host.leave();
    expect(server.requests.filter(({ status }) => status >= 400).map(({ refusal }) => refusal)).toEqual([]);
    expect(last).toMatchObject({ subtype: "success", result: "All done." });
    expect(readFileSync(join(root, "note.txt"), "utf8")).toBe("hello");
    expect(readFileSync(join(root, "host.txt"), "utf8")).toBe("from the host\n");
    const closed = await closings(session);
    expect(closed.map(({ tool, status }) => [tool, status])).toEqual([
      ["note", "success"],
      ["Bash", "success"],
    ]);
    const kinds = (await collect(session.read())).map(({ kind }) => kind);
    expect(kinds).toContain("user-said");
    rmSync(config, { recursive: true, force: true });
    await server.close();
  }, 60_000);
});
