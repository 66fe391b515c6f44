import { describe, expect, test } from "vitest";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai, openaiCompatible } from "../../src/adapters/openai/entry.ts";
import {
  checkWire,
  type Item,
  type Model,
  type Part,
  PROFILES,
  type ProfileId,
  readMessages,
  repairMessages,
  writeMessages,
} from "../../src/index.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { call, output, user } from "../histories/items.ts";
import { opened } from "../support/durable.ts";
import { watch } from "../support/loop.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const brought = (type: "image" | "audio" | "file", mediaType: string, text: string, name?: string): Part => ({
  type,
  media: { mediaType, base64: base64(text), ...(name === undefined ? {} : { name }) },
});
const words: Part = { type: "text", text: "look" };
const IDS = Object.keys(PROFILES) as readonly ProfileId[];

const key = { model: "strict-1", apiKey: "key" };
const MODELS: Readonly<Record<string, (url: string) => Model>> = {
  "openai-responses": (url) => openai({ ...key, baseURL: `${url}/v1` }),
  "openai-chat": (url) => openai({ ...key, api: "chat", baseURL: `${url}/v1` }),
  "openai-compatible": (url) => openaiCompatible({ ...key, baseURL: `${url}/v1` }),
  anthropic: (url) => anthropic({ ...key, baseURL: url }),
};

/** The last request of a turn in which the user brought this. */
async function asked(model: string, ...parts: readonly Part[]): Promise<string> {
  const server = await startProviderServer({ script: [{ text: "seen" }] });
  const { session } = await opened();
  const { end } = await watch(
    session.run([words, ...parts], { model: (MODELS[model] as (url: string) => Model)(server.url) }),
  );
  expect([end.status, server.refused]).toEqual(["done", []]);
  const body = JSON.stringify(server.requests.at(-1)?.body);
  await session.close();
  await server.close();
  return body;
}

describe("a user's file", () => {
  test.each(Object.keys(MODELS))("[WIRE-35] of words reaches %s as the words it consists of", async (model) => {
    const said = await asked(
      model,
      brought("file", "text/csv", "a,b\n1,2", "a.csv"),
      brought("image", "image/svg+xml", "<svg>drawn</svg>"),
      brought("file", "application/json; charset=utf-8", '{"deep":"inside"}'),
    );
    expect(said).toContain("[a.csv, text/csv]\\na,b\\n1,2");
    expect(said).toContain("<svg>drawn</svg>");
    expect(said).toContain("inside");
  });

  test.each(Object.keys(MODELS))("[WIRE-35] that %s cannot read is told in words", async (model) => {
    const zip = brought("file", "application/zip", "zip", "z.zip");
    const notText = brought("file", "text/plain", "");
    const bytes: Part = { type: "file", media: { mediaType: "text/plain", base64: "/w==", name: "b.txt" } };
    const said = await asked(model, zip, notText, bytes);
    expect(said).toContain("[z.zip, application/zip: not shown]");
    expect(said).toContain("stood here, and was empty.");
    expect(said).toContain("[b.txt, text/plain: not shown]");
  });

  test("[WIRE-35] recordings go to Responses in words: it knows no form for them", async () => {
    expect(await asked("openai-responses", brought("audio", "audio/mpeg", "tone"))).toContain(
      "[audio/mpeg: not shown]",
    );
    expect(await asked("openai-chat", brought("audio", "audio/mpeg", "tone"))).toContain('"format":"mp3"');
  });

  test("[WIRE-35] a picture that Anthropic would refuse for its size is told in words; a long document is not", () => {
    const large = "A".repeat(Math.ceil((PROFILES.anthropic.mediaBytes + 8) / 0.75));
    const written = (type: "image" | "file", mediaType: string) =>
      JSON.stringify(
        writeMessages([{ ...user(), parts: [{ type, media: { mediaType, base64: large } }] }], "anthropic"),
      );
    expect(written("image", "image/png")).toContain("[image/png: not shown]");
    expect(written("file", "application/pdf").length).toBeGreaterThan(large.length);
  });

  test("[WIRE-35] types are spelled as providers take them", () => {
    const { messages, adjustments } = writeMessages(
      [{ ...user(), parts: [brought("image", "image/jpg", "x"), brought("image", "IMAGE/PNG", "x")] }],
      "anthropic",
    );
    expect(JSON.stringify(messages)).toMatch(/"image\/jpeg".*"image\/png"/);
    expect(adjustments).toEqual([]);
  });

  test("[WIRE-35] that a stored request holds in a form that is always refused is mended, and told", () => {
    const picture = (media_type: string, data = "AAAA") => ({
      type: "image",
      source: { type: "base64", media_type, data },
    });
    const notes = { type: "document", source: { type: "text", media_type: "text/plain", data: "notes" } };
    const lying = { type: "image", source: { type: "file", file_id: "file_1" } };
    const messages = [
      {
        role: "user",
        content: [
          notes,
          lying,
          picture("image/svg+xml", base64("<svg/>")),
          picture("image/jpg"),
          picture("image/png", ""),
        ],
      },
    ];
    expect(checkWire(messages, "anthropic").map(({ rule }) => rule)).toEqual(["WIRE-35", "WIRE-35", "WIRE-35"]);
    const mended = repairMessages(messages, { format: "anthropic" });
    expect(mended.messages).toEqual([
      {
        role: "user",
        content: [
          notes,
          lying,
          { type: "text", text: "[image/svg+xml]\n<svg/>" },
          picture("image/jpeg"),
          { type: "text", text: "[An image stood here, and was empty.]" },
        ],
      },
    ]);
    expect(mended.adjustments).toEqual([{ kind: "media-replaced", at: 0 }]);
    expect(checkWire(mended.messages, "anthropic")).toEqual([]);
    expect(repairMessages(mended.messages, { format: "anthropic" }).messages).toBe(mended.messages);
  });

  test("[WIRE-38] that a result holds in a form that Anthropic always refuses is refused by the judge, and mended", () => {
    const picture = (media_type: string, data = "AAAA") => ({
      type: "image",
      source: { type: "base64", media_type, data },
    });
    const notes = { type: "document", source: { type: "text", media_type: "text/plain", data: "notes" } };
    const linked = { type: "image", source: { type: "url", url: "https://example.invalid/a.bmp" } };
    const result = (...content: readonly object[]) => [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "shot", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content }] },
    ];
    const sound = result(notes, linked, picture("image/png"));
    expect(repairMessages(sound, { format: "anthropic" }).messages).toBe(sound);
    const bad = [picture("image/svg+xml", base64("<svg/>")), picture("image/jpg"), picture("image/png", "")];
    for (const one of [...bad, picture("image/bmp")])
      expect(checkWire(result(one), "anthropic").map(({ rule }) => rule)).toEqual(["WIRE-35"]);
    const mended = repairMessages(result(notes, ...bad, picture("image/bmp")), { format: "anthropic" });
    expect(mended.messages).toEqual(
      result(
        notes,
        { type: "text", text: "[image/svg+xml]\n<svg/>" },
        picture("image/jpeg"),
        { type: "text", text: "[An image stood here, and was empty.]" },
        { type: "text", text: "[image/bmp: not shown]" },
      ),
    );
    expect(mended.adjustments.map(({ kind }) => kind)).toEqual(["media-replaced", "media-moved"]);
    expect(checkWire(mended.messages, "anthropic")).toEqual([]);
    expect(repairMessages(mended.messages, { format: "anthropic" }).messages).toBe(mended.messages);
  });

  test("[WIRE-35] that was taken before stays the very object", () => {
    const file = { type: "input_file", filename: "a.csv", file_data: `data:text/csv;base64,${base64("a,b")}` };
    const sound = { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } };
    const messages = [{ type: "message", role: "user", content: [file, sound] }];
    expect(repairMessages(messages, { format: "openai-responses" }).messages).toBe(messages);
  });

  test.each(IDS)("[WIRE-35] among the instructions is no place for it: %s", (id) => {
    const items: readonly Item[] = [
      { kind: "system", role: "system", parts: [words, brought("image", "image/png", "x")] },
      user(),
    ];
    const { messages, instructions, adjustments } = writeMessages(items, id);
    expect(JSON.stringify([messages, instructions])).toContain("[image/png: not shown]");
    expect(adjustments).toEqual([{ kind: "media-replaced", at: 0 }]);
  });
});

describe("what the assistant made", () => {
  const drawn = [
    { role: "user", parts: [{ text: "draw" }] },
    { role: "model", parts: [{ text: "here" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
    { role: "user", parts: [{ text: "again" }] },
  ];

  test.each(["openai-chat", "openai-responses", "anthropic", "openai-compatible"] as const)(
    "[WIRE-35] is shown to %s in a message after the answer",
    (id) => {
      const { messages, adjustments } = writeMessages(readMessages(drawn, "gemini").items, id);
      expect(checkWire(messages, id)).toEqual([]);
      expect(adjustments).toContainEqual({ kind: "media-moved", at: 1 });
      const [, answer, ...after] = messages;
      expect(JSON.stringify(answer)).toContain("image/png: shown in the next message");
      expect(JSON.stringify(answer)).not.toContain("AAAA");
      expect(JSON.stringify(after)).toMatch(/which the assistant made.*AAAA.*again/);
    },
  );

  test("[WIRE-35] stays where it is for those who take it there", () => {
    expect(repairMessages(drawn, { format: "gemini" }).messages).toBe(drawn);
    expect(JSON.stringify(writeMessages(readMessages(drawn, "gemini").items, "ai-sdk").messages[1])).toContain("AAAA");
  });

  test("[WIRE-35] beside a call comes after its results, so that nothing parts them", () => {
    const items: readonly Item[] = [
      user(),
      { kind: "assistant", step: 1, parts: [words, brought("image", "image/gif", "GIF89a one")] },
      call("a", { step: 1 }),
      output("a"),
      {
        kind: "assistant",
        step: 2,
        parts: [brought("file", "text/plain", "my notes"), brought("file", "application/zip", "z")],
      },
    ];
    const { messages } = writeMessages(items, "openai-chat");
    expect(checkWire(messages, "openai-chat")).toEqual([]);
    expect(messages.map((message) => (message as { role: string }).role).join(" ")).toBe(
      "user assistant tool user assistant",
    );
    expect(JSON.stringify(messages[4])).toMatch(/my notes.*\[application\/zip: not shown\]/);
  });

  test("[WIRE-35] and that a stored request holds is moved, too", () => {
    const url = "data:image/png;base64,AAAA";
    const messages = [
      { role: "user", content: "draw" },
      {
        role: "assistant",
        content: [
          { type: "text", text: "here" },
          { type: "image_url", image_url: { url } },
        ],
      },
      { role: "user", content: "again" },
    ];
    const mended = repairMessages(messages, { format: "openai-chat" });
    expect(checkWire(mended.messages, "openai-chat")).toEqual([]);
    expect(mended.adjustments).toEqual([{ kind: "media-moved", at: 1 }]);
    expect(repairMessages(mended.messages, { format: "openai-chat" }).messages).toBe(mended.messages);
    expect(repairMessages(messages, { format: "openai-chat", profile: "openai-compatible" }).messages).toBe(messages);
  });
});
