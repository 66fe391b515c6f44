import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import {
  createHoldfast,
  defineSlice,
  reducers,
  resourceKey,
  toolResult,
  type ModelRequest,
  type Session,
} from "../../src/index.ts";
import { serveTools } from "../../src/adapters/mcp/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { Box, writes } from "../support/calls.ts";
import { watch } from "../support/loop.ts";
import { collect } from "../support/stores.ts";
import { freshRoot } from "../support/workspaces.ts";

// Agents read .env files, print environments and are handed keys in a prompt; session stores of others keep all of that
// for years, in clear, in every transcript, export and trace.
const CANARY = "canary-7f3e-never-to-be-kept";
const TOKEN = `ghp_${"a7Z9".repeat(9)}`;
const BOTH = `${CANARY} ${TOKEN}`;

const notes = defineSlice("notes", { initial: [] as readonly object[], on: { added: reducers.append<object> } });
const diary = defineSlice("diary", {
  initial: [] as readonly string[],
  policy: "log",
  on: { said: reducers.append<string> },
});

const BOX = resourceKey<Box>("box");

const seen: unknown[] = [];
const TOOLS = [
  writes("says", async (input) => {
    seen.push(input);
    return { stdout: BOTH, lines: [BOTH], [`key ${BOTH}`]: 1 };
  }),
  writes("throws", async () => {
    throw new Error(`connect with ${BOTH} failed`);
  }),
  writes("fails", async (_input, call) => call.fail("refused", `not with ${BOTH}`, { sent: BOTH })),
  writes("notes", async (_input, call) => {
    await call.resource(BOX);
    call.dispatch(notes.added({ text: BOTH, deep: [{ [BOTH]: BOTH }] }));
    call.dispatch(diary.said(BOTH));
    await call.files.writeText("config.env", `KEY=${TOKEN}\n`);
    return "noted";
  }),
  writes("pays", async (input, call) => call.effect("payment", input as never, { key: "order-1" }), {
    access: "external",
    effects: { payment: { run: () => ({ receipt: BOTH }), undo: () => {} } },
  }),
  writes("attaches", async () =>
    toolResult([
      BOTH,
      { mediaType: "text/plain", bytes: Buffer.from(BOTH) },
      { mediaType: "application/json", name: "config.json", bytes: Buffer.from(JSON.stringify({ key: BOTH })) },
      { mediaType: "image/png", bytes: Buffer.from([137, 80, 78, 71, 0, 255]) },
    ]),
  ),
  writes("waits", async () => "ran", { approval: () => true }),
  writes("slow", async (_input, call) => {
    call.progress(`so far ${BOTH}`);
    await new Promise((_, reject) => call.signal.addEventListener("abort", () => reject(new Error(BOTH))));
  }),
];

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test("[REDACT-9] no file that a session leaves, its workspace apart, holds a secret, whichever way it came", async () => {
  const { root, store } = freshRoot();
  const requests: ModelRequest[] = [];
  const call = (name: string) => ({ name, input: { with: BOTH } });
  const model = scripted(({ nth, request }) => {
    requests.push(request as ModelRequest);
    const steps = [
      {
        reasoning: `I shall use ${BOTH}`,
        text: `You gave me ${BOTH}`,
        calls: ["says", "throws", "fails", "notes", "attaches"].map(call),
      },
      {
        calls: [
          call("pays"),
          { name: "says", inputText: `{"not json": ${BOTH}` },
          { name: "nobody", input: { with: BOTH } },
        ],
      },
      { text: `Done with ${BOTH}` },
      { calls: [call("waits")] },
      { text: "And on." },
    ];
    return steps[nth] ?? { text: `Still ${BOTH}` };
  });
  const at = () =>
    createHoldfast({
      store: sqlite(store, { durability: "process" }),
      workspace: root,
      tools: TOOLS,
      slices: [notes, diary],
      resources: () => [[BOX, new SecretBox()]],
      secrets: [{ name: "canary", value: CANARY }],
    });
  const holdfast = await at();
  const session = await holdfast.open("s");
  await watch(session.run(`Here you are: ${BOTH}`, { model, instructions: `Never say ${CANARY}` }));
  await watch(session.run([{ type: "text", text: `once more ${BOTH}` }], { model }));
  await session.reply(session.waiting[0]!.callId, { approve: false, reason: `not with ${BOTH}` });
  const stopped = new AbortController();
  const slow = session.runTool(call("slow"), { signal: stopped.signal });
  setTimeout(() => stopped.abort(new Error(`stop ${BOTH}`)), 20);
  await slow;
  await session.checkpoint({ tag: `before ${BOTH}` });
  const before = session.checkpoints.list().find(({ tool: name }) => name === "notes");
  await session.fork({ after: before!.callId, as: "other", workspace: "memory" }).then((fork) => fork.close());
  await session.rewind({ before: before!.callId });
  await session.append({ kind: "fault-raised", fault: "made-up", detail: { says: BOTH } });
  await session.setMode("plan", `because of ${BOTH}`);
  await session.checkpoint();
  await session.close();
  await holdfast.close();

  expect(seen[0]).toEqual({ with: BOTH }); // a tool works with what it was given
  expect(JSON.stringify(requests)).not.toContain(TOKEN); // and a model never sees it again
  const files = filesBelow(dirname(store)).filter((path) => !path.startsWith(root));
  expect(files.length).toBeGreaterThan(0);
  for (const path of files)
    expect({ path, canary: readFileSync(path).includes(CANARY) }).toEqual({ path, canary: false });
  // The workspace is the user's: byte for byte, and what is ours in it is readable by nobody else.
  expect(statSync(join(root, ".holdfast", "workspace")).mode & 0o077).toBe(0);

  const again = await at();
  await using reopened = await again.open("s");
  const story = JSON.stringify(await collect(reopened.read()));
  expect(story).toContain("[redacted:canary] [redacted:github-token]");
  expect(story).not.toContain(TOKEN);
  expect(await again.verify()).toMatchObject({ ok: true });
});

test("[REDACT-8] files are byte-exact, in memory and on the disk, before and after a rewind", async () => {
  const { root, store } = freshRoot();
  const holdfast = await createHoldfast({
    store: sqlite(store, { durability: "process" }),
    workspace: root,
    tools: TOOLS,
    slices: [notes, diary],
    resources: () => [[BOX, new SecretBox()]],
    secrets: [CANARY],
  });
  const session = await holdfast.open("s");
  const outcome = await session.runTool({ name: "notes", input: {} });
  expect(readFileSync(join(root, "config.env"), "utf8")).toBe(`KEY=${TOKEN}\n`);
  const fork = await session.fork({ after: outcome.callId as never, as: "other", workspace: "memory" });
  expect(await fork.files.readText("config.env")).toBe(`KEY=${TOKEN}\n`);
  await fork.close();
  await session.close();
  await holdfast.close();
});

test("[REDACT-6] what is true, what the model reads and what another process finds are the same text", async () => {
  const { store } = freshRoot();
  const at = () =>
    createHoldfast({
      store: sqlite(store, { durability: "process" }),
      tools: TOOLS,
      slices: [notes, diary],
      resources: () => [[BOX, new SecretBox()]],
      secrets: [CANARY],
    });
  const requests: ModelRequest[] = [];
  const model = () =>
    scripted(({ request }) => {
      requests.push(request as ModelRequest);
      return requests.length === 1 ? { calls: [{ name: "notes", input: { with: BOTH } }] } : { text: `ok ${BOTH}` };
    });
  const look = (session: Session) =>
    JSON.stringify([session.state.session.get(notes), session.state.session.get(diary)]);
  const first = await at();
  const session = await first.open("s");
  await watch(session.run(`use ${BOTH}`, { model: model() }));
  const then = look(session);
  expect(then).not.toContain(CANARY);
  expect(then).toContain("[redacted:secret] [redacted:github-token]");
  await watch(session.run("on", { model: model() }));
  await session.close();
  await first.close();
  const second = await at();
  await using reopened = await second.open("s");
  expect(look(reopened)).toBe(then);
  await watch(reopened.run("on and on", { model: model() }));
  const [before, after] = requests.slice(-2);
  const told = (request: ModelRequest | undefined) =>
    request!.items.slice(0, before!.stableItems).map((item) => JSON.stringify({ ...item, origin: undefined }));
  expect(before!.stableItems).toBeGreaterThan(3);
  expect(told(after)).toEqual(told(before)); // the prefix, byte for byte
});

test("[REDACT-26] what a host is given of a call reads like what is kept of it, for a model of its own, too", async () => {
  await using holdfast = await createHoldfast({ store: memoryStore(), tools: TOOLS, secrets: [CANARY] });
  await using session = await holdfast.open("s");
  const clean = (given: unknown) => {
    const text = JSON.stringify(given, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(text).toContain("[redacted:");
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain(TOKEN);
  };
  for (const name of ["says", "throws", "fails", "attaches"]) clean(await session.runTool({ name, input: {} }));
  const [outcome] = await session.runTools([{ name: "says", input: {} }]);
  const model = scripted([{ calls: [{ name: "says", input: {} }] }, { text: "done" }]);
  const { events } = await watch(session.run("go", { model }));
  clean(events.filter(({ kind }) => kind === "call-closed"));
  await using begun = await session.begin({ name: "theirs", input: {} });
  clean(await begun.commit({ stdout: BOTH }));
  const [here, there] = InMemoryTransport.createLinkedPair();
  await serveTools(session).connect(there);
  const client = new Client({ name: "another host", version: "1" });
  await client.connect(here);
  clean(await client.callTool({ name: "says", arguments: {} }));
  await client.close();
  const kept = (await collect(session.read())).find((entry) => entry.kind === "call-closed" && entry.tool === "says");
  expect(outcome?.output).toEqual(kept?.kind === "call-closed" ? kept.output : "nothing");
  expect(seen.length).toBeGreaterThan(0); // the tools themselves worked with what they were given
});

test("[REDACT-26] a tool that runs another inside its call works with the real value", async () => {
  const calls = writes("calls", async (_input, call) => {
    const inner = await call.run({ name: "says", input: {} });
    return String((inner.output as { readonly stdout: string }).stdout).length;
  });
  await using holdfast = await createHoldfast({ store: memoryStore(), tools: [...TOOLS, calls], secrets: [CANARY] });
  await using session = await holdfast.open("s");
  expect((await session.runTool({ name: "calls", input: {} })).output).toBe(BOTH.length);
});

class SecretBox extends Box {
  override snapshot(): never {
    return { value: BOTH } as never;
  }
}
