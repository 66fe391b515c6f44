import { describe, expect, test } from "vitest";
import { nameOfBytes } from "../records/blob-name.ts";
import { startProviderServer } from "../testing/provider-server/server.ts";
import type { OutputItem } from "../wire/item.ts";
import { toolResult } from "../transaction/result-parts.ts";
import { defineTool } from "../transaction/tool.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { opened } from "../../test/support/durable.ts";
import { scripted, WAYS, watch } from "../../test/support/loop.ts";
import { largePicture, PDF, PNG, WAV } from "../../test/support/pictures.ts";
import { collect, MemoryDisk } from "../../test/support/stores.ts";
import { finished, MainLoop } from "./main-loop.ts";

const shows = (name: string, result: () => unknown, access: "read" | "write" = "read") =>
  defineTool({ name, access, run: result });
const photo = shows("photo", () => toolResult(["Here:", { mediaType: "image/png", bytes: PNG, name: "p.png" }]));
const all = shows("all", () =>
  toolResult([
    "Three:",
    { mediaType: "image/png", bytes: PNG },
    { mediaType: "application/pdf", bytes: PDF, name: "a.pdf" },
    { mediaType: "audio/wav", bytes: WAV },
    { mediaType: "application/zip", bytes: WAV.slice(0, 4), name: "z.zip" },
  ]),
);
const large = shows("large", () => toolResult([{ mediaType: "image/png", bytes: largePicture() }]));
const call = (name: string) => ({ calls: [{ name, input: {} }] });

async function outputs(session: { conversation(): Promise<readonly object[]> }): Promise<readonly OutputItem[]> {
  return (await session.conversation()).filter((item) => (item as { kind: string }).kind === "output") as OutputItem[];
}

test.each(["anthropic", "gemini", "openai-chat", "openai-responses"] as const)(
  "[WIRE-37] a blank text beside a picture of a result keeps no request to %s from leaving",
  async (profile) => {
    const shows = defineTool({
      name: "shows",
      description: "Shows a picture.",
      access: "read",
      run: async () => toolResult([" ", { bytes: PNG, mediaType: "image/png" }, ""]),
    });
    const { session } = await opened(new MemoryDisk(), { tools: [shows] });
    const model = scripted([{ calls: [{ name: "shows", input: {} }] }, { text: "seen" }], { profile });
    expect((await watch(session.run("show me", { model }))).end.status).toBe("done");
    await session.close();
  },
);

describe("what a result may hold", () => {
  test("[TOOL-1] the bytes are kept under their name, and the record names them", async () => {
    const { session } = await opened(undefined, { tools: [photo] });
    const outcome = await session.runTool({ name: "photo", input: {} });
    expect(outcome.ok).toBe(true);
    expect(outcome.output).toBe(`Here:\n[p.png, image/png, ${PNG.length} bytes]`);
    const closed = (await collect(session.read())).find(({ kind }) => kind === "call-closed");
    const blob = { name: nameOfBytes(PNG), size: PNG.length };
    expect(closed).toMatchObject({
      blobs: [blob],
      parts: [
        { type: "text", text: "Here:" },
        { type: "image", mediaType: "image/png", name: "p.png", blob },
      ],
    });
    expect(closed).not.toHaveProperty("output");
    expect(Buffer.concat(await collect(session.journal.readBlob(blob.name)))).toEqual(Buffer.from(PNG));
  });

  test("[TOOL-1] data that looks like parts is data", async () => {
    const parts = [{ type: "image", mediaType: "image/png", blob: { name: nameOfBytes(PNG), size: 1 } }];
    const { session } = await opened(undefined, { tools: [shows("mimic", () => ({ parts }))] });
    expect((await session.runTool({ name: "mimic", input: {} })).output).toEqual({ parts });
    expect((await outputs(session))[0]?.parts).toEqual([{ type: "text", text: JSON.stringify({ parts }) }]);
  });

  test("[TOOL-1] a file of text is text, and one that only says so is a file", async () => {
    const bytes = Buffer.from("a,b\n1,2\n");
    const liar = Uint8Array.from([0xff, 0xfe, 0x00]);
    const tool = shows("files", () =>
      toolResult([
        { mediaType: "text/csv", bytes, name: "t.csv" },
        { mediaType: "text/plain", bytes: liar },
      ]),
    );
    const { session } = await opened(undefined, { tools: [tool] });
    const { parts } = await session.runTool({ name: "files", input: {} });
    expect(parts).toMatchObject([
      { type: "text", text: "t.csv:\na,b\n1,2\n" },
      { type: "file", mediaType: "text/plain" },
    ]);
  });

  test("[TOOL-1] a handler that goes on with its buffer changes nothing of its result", async () => {
    const buffer = Uint8Array.from(PNG);
    const tool = shows("reuses", () => {
      const result = toolResult([{ mediaType: "image/png", bytes: buffer }]);
      buffer.fill(0);
      return result;
    });
    const { session } = await opened(undefined, { tools: [tool] });
    await session.runTool({ name: "reuses", input: {} });
    expect(Buffer.concat(await collect(session.journal.readBlob(nameOfBytes(PNG))))).toEqual(Buffer.from(PNG));
  });

  test.each([
    ["no media type", [{ mediaType: "picture", bytes: PNG }], "BAD_OPTION"],
    ["a text in place of a list", "words" as never, "BAD_OPTION"],
    ["no bytes", [{ mediaType: "image/png", bytes: "iVBO" as never }], "BAD_OPTION"],
    ["too much", [{ mediaType: "image/png", bytes: new Uint8Array(33 * 1024 * 1024) }], "VALUE_TOO_LARGE"],
  ])("[TOOL-1] %s is refused, and the call is undone", async (_, parts, code) => {
    const { session } = await opened(undefined, { tools: [shows("bad", () => toolResult(parts))] });
    expect(await session.runTool({ name: "bad", input: {} })).toMatchObject({ ok: false, reason: code });
  });
});

describe("like any other result", () => {
  test("[TOOL-2] reopened and forked, the conversation has the same parts and the content can be read", async () => {
    const disk = new MemoryDisk();
    const { session, holdfast } = await opened(disk, { tools: [large] });
    const { callId } = await session.runTool({ name: "large", input: {} });
    const before = await outputs(session);
    await using fork = await session.fork({ after: callId, as: "fork" });
    await session.close();
    const { session: again } = await opened(disk, { tools: [large] });
    for (const other of [again, fork]) {
      expect((await outputs(other)).map(({ parts }) => parts)).toEqual(before.map(({ parts }) => parts));
      const read = await collect(other.journal.readBlob(nameOfBytes(largePicture())));
      expect(Buffer.concat(read)).toEqual(Buffer.from(largePicture()));
    }
    await holdfast.sweep();
    expect(await collect(again.journal.readBlob(nameOfBytes(largePicture())))).not.toEqual([]);
  });

  test("[TOOL-2] a call that is refused after it returned leaves no part", async () => {
    const refused = defineTool({
      name: "refused",
      access: "write",
      attempts: 1,
      validators: [(output) => (output === "" ? undefined : "no")],
      run: () => toolResult([{ mediaType: "image/png", bytes: PNG }]),
    });
    const { session } = await opened(undefined, { tools: [refused] });
    const outcome = await session.runTool({ name: "refused", input: {} });
    expect(outcome).toMatchObject({ ok: false, reason: "rejected" });
    expect(outcome).not.toHaveProperty("parts");
    expect((await collect(session.read())).find(({ kind }) => kind === "call-closed")).not.toHaveProperty("parts");
  });

  test("[TOOL-2] a call inside a call that is discarded is closed without parts", async () => {
    const outer = defineTool({
      name: "outer",
      access: "write",
      run: async (_, call) => {
        const inner = await call.run({ name: "photo", input: {} });
        expect(inner.parts).toHaveLength(2);
        return call.fail("no", "no");
      },
    });
    const { session } = await opened(undefined, { tools: [photo, outer] });
    await session.runTool({ name: "outer", input: {} });
    const closings = (await collect(session.read())).filter(({ kind }) => kind === "call-closed");
    expect(closings).toHaveLength(2);
    for (const closed of closings) expect(closed).not.toHaveProperty("parts");
  });

  test("[TOOL-2] the call record tells kind and size, and never holds it", async () => {
    const { session } = await opened(undefined, { tools: [large] });
    await session.runTool({ name: "large", input: {} });
    const [record] = await session.callRecords();
    expect(record?.outcome_summary).toMatchObject({ ok: true, value_class: "parts" });
    expect(record?.outcome_summary.value?.bytes).toBeGreaterThan(200_000);
    expect(JSON.stringify(record).length).toBeLessThan(2_000);
  });

  test("[TOOL-2] a state that need not outlive the process shows them, too", async () => {
    const seen: unknown[] = [];
    const model = scripted([call("photo"), { text: "seen" }]);
    const watching = {
      ...model,
      ask: (request: Parameters<typeof model.ask>[0], how: Parameters<typeof model.ask>[1]) => {
        seen.push(request.items.find((item) => item.kind === "output"));
        return model.ask(request, how);
      },
    };
    await new MainLoop({ model: watching, tools: [photo] }).execute("look", { state: ExecutionState.create() });
    expect(seen[1]).toMatchObject({
      parts: [{ text: "Here:" }, { media: { base64: Buffer.from(PNG).toString("base64") } }],
    });
  });
});

/** Where the picture's bytes stand in the last request of a turn in which a tool returned them. */
async function lastRequest(way: keyof typeof WAYS, tool: typeof photo, script = [call(tool.name), { text: "seen" }]) {
  const server = await startProviderServer({ script });
  const { session } = await opened(undefined, { tools: [tool] });
  try {
    const model = (WAYS[way] as (typeof WAYS)[string])(server.url, script);
    const { end } = await watch(session.run("look", { model }));
    expect(end.status).toBe("done");
    return server.requests.at(-1)?.body as { messages?: readonly Message[]; input?: readonly Message[] };
  } finally {
    await session.close();
    await server.close();
  }
}

interface Message {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
}

const base64 = Buffer.from(PNG).toString("base64");
const url = `data:image/png;base64,${base64}`;

describe("as providers take it", () => {
  test("[TOOL-3] Anthropic reads it in the result", async () => {
    const { messages = [] } = await lastRequest("anthropic", photo);
    const [result] = (messages[2]?.content ?? []) as readonly { content?: unknown }[];
    expect(result?.content).toEqual([
      { type: "text", text: "Here:" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } },
    ]);
  });

  test("[TOOL-3] OpenAI responses read it in the result", async () => {
    const { input = [] } = await lastRequest("openai responses", photo);
    expect(input.find(({ type }) => type === "function_call_output")?.output).toEqual([
      { type: "input_text", text: "Here:" },
      { type: "input_image", image_url: url, detail: "auto" },
    ]);
  });

  test("[TOOL-3] [WIRE-33] OpenAI chat reads of it in the result, and sees it in a message after all results", async () => {
    const script = [
      {
        calls: [
          { name: "photo", input: {} },
          { name: "photo", input: {} },
        ],
      },
      { text: "seen" },
    ];
    const { messages = [] } = await lastRequest("openai chat", photo, script);
    const roles = messages.map(({ role }) => role);
    expect(roles.slice(roles.indexOf("assistant"))).toEqual(["assistant", "tool", "tool", "user", "user"]);
    const [first, second, shown] = messages.slice(roles.indexOf("tool"));
    for (const result of [first, second])
      expect(JSON.stringify(result?.content)).toContain("[p.png, image/png: shown after the results]");
    expect(((shown?.content ?? []) as readonly object[]).filter((part) => "image_url" in part)).toEqual([
      { type: "image_url", image_url: { url } },
      { type: "image_url", image_url: { url } },
    ]);
  });

  test("[TOOL-3] files go where they are read, and what is read nowhere is told in words", async () => {
    const said = JSON.stringify(await lastRequest("anthropic", all));
    expect(said).toContain(Buffer.from(PDF).toString("base64"));
    expect(said).toContain("[A recording stood here. This model does not hear audio.]");
    expect(said).toContain("[z.zip, application/zip: not shown]");
    expect(said).not.toContain(Buffer.from(WAV).toString("base64"));
    const chat = JSON.stringify(await lastRequest("openai chat", all));
    expect(chat).toContain('"filename":"a.pdf"');
    expect(chat).toContain(Buffer.from(WAV).toString("base64"));
  });

  test("[TOOL-3] the message after the results begins no turn of the user's", async () => {
    const { session } = await opened(undefined, { tools: [photo] });
    const server = await startProviderServer({ script: [call("photo"), { text: "seen" }] });
    const model = (WAYS["openai chat"] as (typeof WAYS)[string])(server.url, []);
    await finished(session.run("look", { model }));
    const said = (await session.conversation()).filter(({ kind }) => kind === "user");
    expect(said).toHaveLength(1);
    await server.close();
  });
});

describe("content that is gone", () => {
  test("[TOOL-4] the model reads that it could not be read, and the journal has one fault", async () => {
    const disk = new MemoryDisk();
    const { session } = await opened(disk, { tools: [large] });
    await watch(session.run("look", { model: scripted([call("large"), { text: "seen" }]) }));
    await session.close();
    const { session: again, deps } = await opened(disk, { tools: [large] });
    const seen: unknown[] = [];
    const model = scripted([call("recall"), { text: "well" }]);
    const name = nameOfBytes(largePicture());
    deps.store.blobs.remove(name);
    const watching: typeof model = {
      ...model,
      ask: (request, how) => {
        seen.push(...request.items.filter((item) => item.kind === "output"));
        return model.ask(request, how);
      },
    };
    const { end } = await watch(again.run("again", { model: watching }));
    expect(end.status).toBe("done");
    expect(seen[0]).toMatchObject({
      parts: [{ type: "text", text: expect.stringMatching(/could not be read \(BLOB_MISSING\)/) }],
    });
    const faults = (await collect(again.read())).filter((entry) => entry.kind === "fault-raised");
    expect(faults).toMatchObject([{ fault: "result-media-unread", detail: { name, code: "BLOB_MISSING" } }]);
  });
});

describe("under pressure", () => {
  test("[TOOL-5] a picture falls to words with a handle, and recall shows it again", async () => {
    const filler = defineTool({ name: "filler", access: "read", run: () => "word ".repeat(1_500) });
    const { session } = await opened(undefined, { tools: [photo, filler], context: { window: 60_000 } });
    const requests: (readonly unknown[])[] = [];
    const steps = [call("photo"), ...Array.from({ length: 40 }, () => call("filler")), { text: "done" }];
    const model = scripted(steps);
    const seeing = (inner: typeof model): typeof model => ({
      ...inner,
      ask: (request, how) => {
        requests.push(request.items);
        return inner.ask(request, how);
      },
    });
    await watch(session.run("look", { model: seeing(model) }));
    expect(JSON.stringify(requests[1])).toContain(base64);
    const last = JSON.stringify(requests.at(-1));
    expect(last).not.toContain(base64);
    const handle = /image\/png[^"]*(holdfast:\/\/\w+)/.exec(last)?.[1];
    expect(handle).toBeDefined();
    const again = scripted([{ calls: [{ name: "recall", input: { handle } }] }, { text: "I see it" }]);
    await watch(session.run("show it again", { model: seeing(again) }));
    expect(JSON.stringify(requests.at(-1))).toContain(base64);
  });
});
