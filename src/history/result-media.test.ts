import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repairMessages } from "./messages.ts";
import { repairHistory } from "./repair.ts";
import { call, output, say, user } from "../../test/histories/items.ts";
import { checkWire } from "../wire/check.ts";
import type { Item, Part } from "../wire/item.ts";
import { PROFILES, type ProfileId } from "../wire/profiles.ts";
import { writeMessages } from "../wire/project.ts";

const picture: Part = { type: "image", media: { mediaType: "image/png", base64: "AAAA" } };
const url = "data:image/png;base64,AAAA";
const chatCall = (...ids: readonly string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "shot", arguments: "{}" } })),
});
const shown = (id: string) => ({
  role: "tool",
  tool_call_id: id,
  content: [
    { type: "text", text: "see" },
    { type: "image_url", image_url: { url } },
  ],
});

describe("pictures in results", () => {
  test("[WIRE-33] messages with one are mended: text in the result, the picture after all results", () => {
    const broken = [
      { role: "user", content: "go" },
      chatCall("A", "B"),
      shown("A"),
      shown("B"),
      { role: "user", content: "well?" },
    ];
    const { messages, adjustments } = repairMessages(broken, { format: "openai-chat" });
    expect(checkWire(messages, "openai-chat")).toEqual([]);
    expect(messages.map((message) => (message as { role: string }).role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "user",
      "user",
    ]);
    expect(JSON.stringify(messages[2])).toContain("[image/png: shown after the results]");
    expect((messages[4] as { content: readonly object[] }).content.filter((part) => "image_url" in part)).toHaveLength(
      2,
    );
    expect(adjustments.map(({ kind }) => kind)).toEqual(["media-moved", "media-moved"]);
    expect(repairMessages(messages, { format: "openai-chat" }).messages).toBe(messages);
  });

  test("[WIRE-33] where a provider took them in a result before, they stay as they were", () => {
    const messages = [
      { role: "user", content: [{ type: "text", text: "go" }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "A", toolName: "shot", input: {} }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "A",
            toolName: "shot",
            output: { type: "content", value: [{ type: "media", mediaType: "image/png", data: "AAAA" }] },
          },
        ],
      },
    ];
    expect(repairMessages(messages, { format: "ai-sdk" }).messages).toBe(messages);
  });

  test.each(Object.keys(PROFILES) as readonly ProfileId[])(
    "[TOOL-3] a picture that %s would refuse for its size is told in words, and shown in no later request",
    (id) => {
      const { mediaBytes } = PROFILES[id];
      const held = (bytes: number): Part => ({
        type: "image",
        media: { mediaType: "image/png", base64: "A".repeat(Math.ceil(bytes / 0.75)) },
      });
      const written = (part: Part) => {
        const items: readonly Item[] = [user("go"), call("c"), output("c", { parts: [part] }), user("on")];
        return JSON.stringify(writeMessages(repairHistory(items).history, id).messages);
      };
      expect(written(held(mediaBytes + 8))).toContain("[image/png: not shown]");
      expect(written(held(mediaBytes + 8)).length).toBeLessThan(10_000);
      expect(written(held(mediaBytes - 8)).length).toBeGreaterThan(mediaBytes);
    },
  );

  const parts: readonly Part[] = [
    { type: "text", text: "some words" },
    picture,
    { type: "file", media: { mediaType: "application/pdf", base64: "AAAA", name: "a.pdf" } },
    { type: "audio", media: { mediaType: "audio/mpeg", base64: "AAAA" } },
    { type: "file", media: { mediaType: "application/zip", base64: "AAAA" } },
    { type: "image", media: { mediaType: "image/png", blob: { name: "sha256-0", size: 3 } } },
  ];
  const results = fc.array(fc.subarray([...parts], { minLength: 1 }), { minLength: 1, maxLength: 4 });

  test.each(Object.keys(PROFILES) as readonly ProfileId[])(
    "[TOOL-3] [WIRE-24] whatever results hold, %s takes them, and every part is there or named",
    (id) => {
      fc.assert(
        fc.property(results, (held) => {
          const calls = held.map((_, at) => call(`call_${at}`, { step: 1 }));
          const outputs = held.map((own, at) => output(`call_${at}`, { parts: own }));
          const items: readonly Item[] = [user("go"), ...calls, ...outputs, say("so", { step: 2 }), user("on")];
          const { messages } = writeMessages(repairHistory(items).history, id);
          expect(checkWire(messages, id)).toEqual([]);
          const said = JSON.stringify(messages);
          const count = (part: Part) => held.flat().filter((one) => one === part).length;
          expect(said.split("some words").length - 1).toBe(count(parts[0] as Part));
          expect(said.split("application/zip: not shown").length - 1).toBe(count(parts[4] as Part));
          expect(said.split("image/png, 3 bytes, is not here.").length - 1).toBe(count(parts[5] as Part));
        }),
        { numRuns: 50 },
      );
    },
  );
});
