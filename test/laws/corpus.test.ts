import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { checkWire, repairMessages, type WireFormat } from "../../src/index.ts";

/** Real transcripts, where somebody has them: `HOLDFAST_CORPUS` names the folder. */
const corpus = process.env["HOLDFAST_CORPUS"] ?? "";

type Raw = Readonly<Record<string, unknown>>;

/** Conversations of a file as raw provider messages, as a stranger would dig them out. */
const READERS: Readonly<
  Record<string, { readonly format: WireFormat; readonly read: (text: string) => readonly object[][] }>
> = {
  "claude-code": {
    format: "anthropic",
    read: (text) => [
      lines(text)
        .filter((line) => line["type"] === "user" || line["type"] === "assistant")
        .map((line) => line["message"] as object)
        .filter((message) => typeof message === "object" && message !== null),
    ],
  },
  "codex-rollout": {
    format: "openai-responses",
    read: (text) => [
      lines(text)
        .filter((line) => line["type"] === "response_item")
        .map((line) => line["payload"] as object),
    ],
  },
  "openai-chat": { format: "openai-chat", read: (text) => listsOfMessages(JSON.parse(text)) },
};

function lines(text: string): readonly Raw[] {
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as Raw];
    } catch {
      return [];
    }
  });
}

function listsOfMessages(value: unknown): object[][] {
  if (Array.isArray(value)) {
    const messages = value.every((one: unknown) => typeof one === "object" && one !== null && "role" in one);
    return messages && value.length > 0 ? [value as object[]] : value.flatMap(listsOfMessages);
  }
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listsOfMessages) : [];
}

describe.skipIf(!existsSync(corpus))("real transcripts (HOLDFAST_CORPUS)", () => {
  test.each(Object.keys(READERS))(
    "[WIRE-22] %s: every conversation is clean after repair, and a second repair returns it",
    (folder) => {
      const { format, read } = READERS[folder] as (typeof READERS)[string];
      let conversations = 0;
      for (const name of readdirSync(join(corpus, folder))) {
        const bytes = readFileSync(join(corpus, folder, name));
        const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
        if (!name.includes(".json")) continue;
        for (const messages of read(text)) {
          conversations += 1;
          const { messages: mended } = repairMessages(messages, { format });
          expect({ name, faults: checkWire(mended, format).slice(0, 3) }).toEqual({ name, faults: [] });
          expect(repairMessages(mended, { format }).messages).toBe(mended);
        }
      }
      expect(conversations).toBeGreaterThan(0);
    },
  );
});
