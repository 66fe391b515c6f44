import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  checkWire,
  PROFILES,
  type ProfileId,
  readMessages,
  repairMessages,
  type WireFormat,
  writeMessages,
} from "../../src/index.ts";

const PDF = "JVBERi0xLjQK";
const JPEG = "/9j/AAAA";
const base64 = (text: string) => Buffer.from(text).toString("base64");
const IDS = Object.keys(PROFILES) as readonly ProfileId[];

/** One message of the user's in each format. */
const MESSAGE: Readonly<Record<WireFormat, (part: unknown) => object>> = {
  "openai-chat": (part) => ({ role: "user", content: [part] }),
  "openai-responses": (part) => ({ type: "message", role: "user", content: [part] }),
  anthropic: (part) => ({ role: "user", content: [part] }),
  gemini: (part) => ({ role: "user", parts: [part] }),
  "ai-sdk": (part) => ({ role: "user", content: [part] }),
};

function carried(part: unknown, from: WireFormat, to: ProfileId) {
  const { messages, adjustments } = writeMessages(readMessages([MESSAGE[from](part)], from).items, to);
  expect(checkWire(messages, to)).toEqual([]);
  return { said: JSON.stringify(messages), told: adjustments.map(({ kind }) => kind) };
}

/** A part, and what must be found in the messages of every other provider. */
const WHOLE: readonly (readonly [string, WireFormat, unknown, ...(string | RegExp)[]])[] = [
  [
    "a text document",
    "anthropic",
    { type: "document", title: "n", source: { type: "text", media_type: "text/plain", data: "plain ✓" } },
    "[n, text/plain]\\nplain ✓",
  ],
  [
    "a document of blocks",
    "anthropic",
    {
      type: "document",
      source: {
        type: "content",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
      },
    },
    "one\\ntwo",
  ],
  ["a document of one text", "anthropic", { type: "document", source: { type: "content", content: "whole" } }, "whole"],
  [
    "a document with a picture",
    "anthropic",
    {
      type: "document",
      source: {
        type: "content",
        content: [
          { type: "text", text: "see" },
          { type: "image", source: { type: "base64", data: "A".repeat(2_000) } },
        ],
      },
    },
    "see",
    "(2000 characters)",
  ],
  [
    "a search result",
    "anthropic",
    {
      type: "search_result",
      source: "https://example.invalid",
      title: "T",
      content: [{ type: "text", text: "the fact" }],
    },
    "[T, https://example.invalid]\\nthe fact",
  ],
  [
    "a file",
    "openai-chat",
    { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
    PDF,
    "application/pdf",
  ],
  ["a file in plain base64", "openai-chat", { type: "file", file: { filename: "a.pdf", file_data: PDF } }, PDF],
  [
    "a file",
    "openai-responses",
    { type: "input_file", filename: "a.csv", file_data: `data:text/csv;charset=utf-8;base64,${base64("a,b")}` },
    "[a.csv, text/csv]\\na,b",
  ],
  ["bytes", "ai-sdk", { type: "image", image: new Uint8Array([255, 216, 255, 1]) }, "/9j/AQ==", "image/jpeg"],
  [
    "a buffer",
    "ai-sdk",
    { type: "file", data: new Uint8Array([255, 216, 255, 1]).buffer, mediaType: "image/*" },
    "/9j/AQ==",
    "image/jpeg",
  ],
  [
    "bytes that were kept as JSON",
    "ai-sdk",
    JSON.parse(JSON.stringify({ type: "image", image: Buffer.from([255, 216, 255, 1]) })),
    "/9j/AQ==",
  ],
  ["a data URL", "ai-sdk", { type: "image", image: `data:image/jpeg;base64,${JPEG}` }, JPEG, "image/jpeg"],
  ["tagged data", "ai-sdk", { type: "file", mediaType: "application/pdf", data: { type: "data", data: PDF } }, PDF],
  [
    "a tagged address",
    "ai-sdk",
    { type: "file", mediaType: "image", data: { type: "url", url: new URL("https://example.invalid/a.png") } },
    "https://example.invalid/a.png",
  ],
  [
    "tagged text",
    "ai-sdk",
    { type: "file", mediaType: "text/plain", filename: "n.txt", data: { type: "text", text: "inline" } },
    "[n.txt, text/plain]\\ninline",
  ],
  ["an unknown picture", "ai-sdk", { type: "image", image: "AAAA" }, "AAAA", "image/png"],
  ["code that it ran", "gemini", { executableCode: { language: "PYTHON", code: "print(1)" } }, "print(1)"],
];

/** What a provider keeps, and how it is called there. */
const NAMED: readonly (readonly [WireFormat, unknown, string])[] = [
  ["anthropic", { type: "image", source: { type: "file", file_id: "file_2" } }, "file_2"],
  ["anthropic", { type: "document", title: "a.pdf", source: { type: "file", file_id: "file_1" } }, "file_1"],
  ["openai-chat", { type: "file", file: { file_id: "file-1" } }, "file-1"],
  ["openai-responses", { type: "input_image", file_id: "file-1", image_url: null }, "file-1"],
  ["openai-responses", { type: "input_file", file_id: "file-2" }, "file-2"],
  ["ai-sdk", { type: "image", image: { openai: "file-3" } }, "file-3"],
  [
    "ai-sdk",
    { type: "file", mediaType: "image", data: { type: "reference", reference: { openai: "file-4" } } },
    "file-4",
  ],
  ["gemini", { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/a.pdf" } }, "gs://bucket/a.pdf"],
  [
    "gemini",
    { fileData: { mimeType: "image/png", fileUri: "https://generativelanguage.googleapis.com/v1beta/files/abc" } },
    "files/abc",
  ],
];

describe("between providers", () => {
  const elsewhere = WHOLE.flatMap(([what, from, part, ...found]) =>
    IDS.filter((to) => PROFILES[to].format !== from).map((to) => [what, from, to, part, found] as const),
  );
  test.each(elsewhere)("[WIRE-36] %s of %s arrives whole at %s", (_what, from, to, part, found) => {
    const { said } = carried(part, from, to);
    for (const text of found) expect(said).toContain(text);
    expect(said).not.toMatch(/"data":""|base64,"|octet-stream/);
  });

  test("[WIRE-36] a recording keeps its type", () => {
    const sound = { type: "input_audio", input_audio: { format: "mp3", data: "AAAA" } };
    expect(carried(sound, "openai-chat", "gemini").said).toContain('"mimeType":"audio/mpeg","data":"AAAA"');
    const wave = { type: "input_audio", input_audio: { data: "AAAA" } };
    expect(carried(wave, "openai-chat", "ai-sdk").said).toContain("audio/wav");
  });

  test.each(NAMED)(
    "[WIRE-34] a file that lies with the provider of %s is told to others by its name",
    (from, part, id) => {
      for (const to of IDS.filter((one) => PROFILES[one].format !== from)) {
        const { said, told } = carried(part, from, to);
        expect(said).toMatch(/stood here.*Only \S+ can read it/);
        expect(said).toContain(id);
        expect(said).not.toMatch(/"data":""|base64,"|file_id|fileData/);
        expect(told).toContain("media-replaced");
      }
      const own = [MESSAGE[from](part)];
      expect(repairMessages(own, { format: from }).messages).toBe(own);
    },
  );

  test.each(IDS.filter((id) => id !== "ai-sdk"))("[WIRE-34] content that is empty is told to %s in words", (id) => {
    const { said, told } = carried({ type: "file", mediaType: "image/png", data: "" }, "ai-sdk", id);
    expect(said).toContain("[An image stood here, and was empty.]");
    expect(told).toEqual(["media-replaced"]);
    for (const part of [{ type: "image" }, { type: "image", image: { 0: 255, 1: 216 } }]) {
      const { said: data } = carried(part, "ai-sdk", id);
      expect(data).toContain("[In the form of ai-sdk: ");
    }
  });

  test("[WIRE-36] what only one provider knows is told as data: words whole, letters counted, a bare seal not at all", () => {
    const circle: Record<string, unknown> = { type: "odd" };
    circle["self"] = circle;
    const text = "many words ".repeat(200);
    const content = [{ type: "odd", text, blob: new Uint8Array(7) }, circle, { type: "text", text: "hi" }];
    const { messages, adjustments } = writeMessages(
      readMessages([{ role: "user", content }], "ai-sdk").items,
      "anthropic",
    );
    const said = JSON.stringify(messages);
    for (const part of [text, "(7 bytes)", "it cannot be written", "hi"]) expect(said).toContain(part);
    expect(adjustments).toEqual([{ kind: "part-replaced", at: 0 }]);
    const sealed = [
      { role: "user", parts: [{ text: "x" }] },
      { role: "model", parts: [{ text: "well" }, { text: "", thoughtSignature: "s" }] },
    ];
    const { messages: chat, adjustments: told } = writeMessages(readMessages(sealed, "gemini").items, "openai-chat");
    expect(chat[1]).toEqual({ role: "assistant", content: "well" });
    expect(told).toEqual([{ kind: "part-replaced", at: 1 }]);
  });
});

describe("in results", () => {
  const result = (value: readonly object[]) => [
    { role: "user", content: "x" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "t", toolName: "f", input: {} }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "t", toolName: "f", output: { type: "content", value } }],
    },
  ];

  test.each(IDS.filter((id) => id !== "ai-sdk"))("[WIRE-36] pictures and files of the AI SDK reach %s", (id) => {
    const value = [
      { type: "text", text: "shot" },
      { type: "image-data", data: JPEG, mediaType: "image/jpeg" },
      { type: "image-url", url: "https://example.invalid/a.png" },
      { type: "file-data", data: base64("a,b"), mediaType: "text/csv", filename: "a.csv" },
      { type: "file-id", fileId: { openai: "file-9" } },
    ];
    const { messages } = writeMessages(readMessages(result(value), "ai-sdk").items, id);
    expect(checkWire(messages, id)).toEqual([]);
    const said = JSON.stringify(messages);
    for (const found of ["shot", JPEG, "https://example.invalid/a.png", "[a.csv, text/csv]\\na,b", "file-9"])
      expect(said).toContain(found);
  });

  const shown = [
    { role: "user", parts: [{ text: "x" }] },
    { role: "model", parts: [{ functionCall: { id: "c", name: "f", args: {} } }] },
    {
      role: "user",
      parts: [
        {
          functionResponse: {
            id: "c",
            name: "f",
            response: { output: "see" },
            parts: [{ inlineData: { mimeType: "image/png", data: "AAAA", displayName: "p.png" } }],
          },
        },
      ],
    },
  ];

  test.each(IDS.filter((id) => id !== "gemini"))("[WIRE-36] pictures of Gemini reach %s", (id) => {
    const { messages } = writeMessages(readMessages(shown, "gemini").items, id);
    expect(checkWire(messages, id)).toEqual([]);
    expect(JSON.stringify(messages)).toMatch(/see.*AAAA/);
  });

  test("[WIRE-36] pictures of Gemini stay in the result there, also when it is written anew", () => {
    expect(repairMessages(shown, { format: "gemini" }).messages).toBe(shown);
    const items = readMessages(shown, "gemini").items.map((item) => {
      const { origin: _origin, ...rest } = item;
      return item.kind === "output" ? rest : item;
    });
    expect(writeMessages(items as never, "gemini").messages).toEqual(shown);
  });
});

test("[WIRE-34] [WIRE-35] [WIRE-36] whatever is handed from one provider to another is taken, and nothing in it is empty", () => {
  const inline = (type: string, media_type: string, data = "AAAA") => ({
    type,
    source: { type: "base64", media_type, data },
  });
  const odd = [
    inline("image", "image/jpg"),
    inline("image", "image/svg+xml"),
    inline("image", "image/png", ""),
    inline("document", "text/csv"),
  ];
  const parts = fc.constantFrom(
    ...WHOLE.map(([, from, part]) => [from, part] as const),
    ...NAMED,
    ...odd.map((part) => ["anthropic", part] as const),
  );
  fc.assert(
    fc.property(parts, fc.constantFrom(...IDS), fc.boolean(), ([from, part], to, byModel) => {
      const role = from === "gemini" ? "model" : "assistant";
      const said = [
        MESSAGE[from]({ type: "text", text: "hi" }),
        byModel ? { ...MESSAGE[from](part), role } : MESSAGE[from](part),
      ];
      const { messages } = writeMessages(readMessages(said, from).items, { ...PROFILES[to], userLast: false });
      expect(checkWire(messages, { ...PROFILES[to], userLast: false })).toEqual([]);
      expect(JSON.stringify(messages)).not.toMatch(/"data":""|base64,"/);
    }),
    { numRuns: 300 },
  );
});
