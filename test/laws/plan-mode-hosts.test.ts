import { describe, expect, test } from "vitest";
import { quickjs } from "../../src/adapters/quickjs/entry.ts";
import { defineTool, type Session, type SessionOptions, shellReadOnly, type Tool } from "../../src/index.ts";
import { opened } from "../support/durable.ts";
import { HOSTS, type MadeCall, type Way } from "../support/hosts.ts";
import { scripted } from "../support/loop.ts";
import { collect, MemoryDisk } from "../support/stores.ts";

/** What is called on the way, in a session that is, or comes to be, in plan mode. */
interface Leak {
  readonly calls: readonly MadeCall[];
  /** What the session has beside the usual tools. `flip` brings it into plan mode, from outside every call. */
  readonly bring?: (stage: Stage) => SessionOptions;
  /** Before the calls are made. Default: plan mode begins. */
  readonly before?: (session: Session, stage: Stage) => Promise<unknown>;
  /** Calls that may succeed all the same, because they change nothing. */
  readonly harmless?: readonly string[];
}

interface Stage {
  /** Handlers that changed something, or tried to. */
  readonly ran: string[];
  readonly flip: () => Promise<void>;
  readonly writing: (name: string, more?: Partial<Parameters<typeof defineTool>[0]>) => Tool;
}

const edit: MadeCall = { name: "edit_file", input: {} };
const command = (text: string): MadeCall => ({ name: "shell", input: { command: text } });

/** Each way on which plan mode leaks in the wild, as far as a call can be made on it. */
const LEAKS: Readonly<Record<string, Leak>> = {
  "a prompt that nobody enforces": { calls: [edit] },
  "a shell command": { calls: [command("rm -rf src"), command("git commit -am x")] },
  "redirection in a command that reads": { calls: [command("cat a > b"), command("ls $(touch x)")] },
  "a server's tool that calls itself read-only": { calls: [{ name: "mcp_store", input: {} }] },
  "a tool of several actions": {
    calls: [
      { name: "unified", input: { action: "write" } },
      { name: "unified", input: {} },
    ],
  },
  "a renamed tool": {
    calls: [{ name: "edit_file_2", input: {} }],
    bring: ({ writing }) => ({ tools: [writing("edit_file_2")] }),
  },
  "a tool that is added in between": {
    calls: [edit, { name: "fresh", input: {} }],
    before: async (session, { flip, writing }) => {
      await flip();
      await session.catalog.add([writing("fresh")]);
    },
  },
  "a sub-agent": {
    calls: [{ name: "helper", input: { task: "edit it" } }],
    bring: () => ({
      agents: [{ name: "helper", description: "d", model: scripted([{ calls: [edit] }, { text: "could not" }]) }],
    }),
    harmless: ["helper"],
  },
  "generated code": {
    calls: [{ name: "run_code", input: { code: 'return tools.edit_file({ path: "x" });' } }],
    bring: () => ({ code: quickjs() }),
  },
  "a session that was resumed": { calls: [edit], before: async () => undefined },
  "a flip between the offer and the call": {
    calls: [{ name: "flips", input: {} }, edit],
    before: async () => undefined,
    bring: ({ flip }) => ({
      tools: [defineTool({ name: "flips", access: "read", run: () => flip().then(() => "ok") })],
    }),
    harmless: ["flips"],
  },
  "a flip while the call runs": {
    calls: [{ name: "slow", input: {} }],
    before: async () => undefined,
    bring: ({ flip, writing }) => {
      const late = writing("late");
      const run: Tool["run"] = async (input, call) => {
        await flip();
        return late.run(input, call);
      };
      return { tools: [{ ...late, name: "slow", run }] };
    },
  },
};

const USUAL = (writing: Stage["writing"]): readonly Tool[] => [
  writing("edit_file"),
  writing("shell", { access: "execute", readOnly: shellReadOnly() }),
  writing("mcp_store", { access: "external", annotations: { readOnlyHint: true, destructiveHint: false } }),
  writing("unified", { actions: { field: "action", access: { read: "read", write: "write" } } }),
];

async function tryOn(way: Way, leak: Leak, resumed: boolean) {
  const ran: string[] = [];
  // Begun out here, so that it happens outside every call, whoever asks for it.
  const asked = Promise.withResolvers<void>();
  const flipped = asked.promise.then(() => session.setMode("plan"));
  const stage: Stage = {
    ran,
    flip: () => {
      asked.resolve();
      return flipped;
    },
    writing: (name, more = {}) =>
      defineTool({
        name,
        access: "write",
        ...(more as object),
        run: async (_, call) => {
          ran.push(name);
          await call.files.writeText(`${name}.txt`, "leaked");
          return "done";
        },
      }),
  };
  const { tools = [], ...more } = leak.bring?.(stage) ?? {};
  const options = { ...more, tools: [...USUAL(stage.writing), ...tools] };
  const disk = new MemoryDisk();
  let { session } = await opened(disk, options);
  if (resumed) {
    await session.setMode("plan");
    await session.close();
    ({ session } = await opened(disk, options));
  }
  await (leak.before ?? (() => stage.flip()))(session, stage);
  await way(session, leak.calls);
  const closings = (await collect(session.read())).filter((entry) => entry.kind === "call-closed");
  const result = {
    mode: session.mode,
    files: await session.files.list(),
    succeeded: closings.flatMap(({ tool, status }) => (status === "success" ? [tool] : [])),
    closed: closings.length,
  };
  await session.close();
  return { ...result, ran };
}

describe.each(Object.entries(LEAKS))("plan mode leaks through %s", (title, leak) => {
  test.each(Object.entries(HOSTS))("[PARITY-5] not on the way of %s", async (_, way) => {
    const { mode, files, succeeded, closed, ran } = await tryOn(way, leak, title === "a session that was resumed");
    expect({ mode, files, succeeded }).toEqual({ mode: "plan", files: [], succeeded: leak.harmless ?? [] });
    expect(closed).toBeGreaterThanOrEqual(leak.calls.length);
    // What was running already may have tried; nothing of it was committed.
    expect(ran).toEqual(title === "a flip while the call runs" ? ["late"] : []);
  });
});

describe("a tool that needs consent", () => {
  const SERVERS = Object.entries(HOSTS).filter(([name]) => /MCP|Claude/.test(name));
  const deploy = (ran: string[]) =>
    defineTool<{ readonly to: string }>({
      name: "deploy",
      access: "write",
      approval: ({ to }) => to === "production",
      run: ({ to }) => {
        ran.push(to);
        return "deployed";
      },
    });

  test.each(SERVERS)("[PARITY-6] does not run where nobody was asked: %s", async (_, way) => {
    const ran: string[] = [];
    const { session } = await opened(undefined, { tools: [deploy(ran)] });
    const calls = ["staging", "production"].map((to) => ({ name: "deploy", input: { to } }));
    await way(session, calls).catch((error: Error) => expect(error.message).toMatch(/before the session was asked/));
    expect(ran).toEqual(["staging"]);
    for (const closing of (await collect(session.read())).filter((entry) => entry.kind === "call-closed").slice(1))
      expect(closing).toMatchObject({ status: "failed", reason: "denied", output: expect.stringMatching(/consent/) });
  });

  test("[PARITY-6] does not run in a program, nor in any other call", async () => {
    const ran: string[] = [];
    const { session } = await opened(undefined, { tools: [deploy(ran)], code: quickjs() });
    const code = 'tools.deploy({ to: "staging" }); return tools.deploy({ to: "production" });';
    const outcome = await session.runTool({ name: "run_code", input: { code } });
    expect(outcome).toMatchObject({ ok: false, output: expect.stringMatching(/needs somebody's consent/) });
    expect(ran).toEqual(["staging"]);
  });
});
