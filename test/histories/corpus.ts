import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Item, readMessages, type WireFormat } from "../../src/index.ts";
import { bytesSource } from "../../src/base/text/source.ts";
import { readTranscript } from "../../src/transcripts/read.ts";
import { strandsOf } from "../../src/transcripts/strand.ts";

/** Real transcripts, where somebody has them: `HOLDFAST_CORPUS` names the folder. */
const corpus = process.env["HOLDFAST_CORPUS"] ?? "";
export const hasCorpus = existsSync(corpus);

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

export const TRANSCRIPTS = Object.keys(READERS);

export interface Conversation {
  readonly name: string;
  readonly format: WireFormat;
  readonly messages: readonly object[];
}

/** Every conversation of one kind of transcript. */
export function* conversations(folder: string): Generator<Conversation> {
  const { format, read } = READERS[folder] as (typeof READERS)[string];
  for (const name of readdirSync(join(corpus, folder))) {
    if (!name.includes(".json")) continue;
    const bytes = readFileSync(join(corpus, folder, name));
    const text = (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
    for (const messages of read(text)) yield { name, format, messages };
  }
}

/** Every kind of transcript that is there. */
export function transcriptFolders(): readonly string[] {
  if (!hasCorpus) return [];
  return readdirSync(corpus, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

export interface RecordedItems {
  readonly name: string;
  readonly items: readonly Item[];
}

/** Every conversation of one kind as items: with all its words where a provider's messages are in the file, else its bones. */
export async function* recordedItems(folder: string): AsyncGenerator<RecordedItems> {
  if (Object.hasOwn(READERS, folder)) {
    for (const { name, format, messages } of conversations(folder)) {
      yield { name, items: readMessages(messages, format).items };
    }
    return;
  }
  for (const name of readdirSync(join(corpus, folder))) {
    const bytes = readFileSync(join(corpus, folder, name));
    const transcript = await readTranscript(bytesSource(name, name.endsWith(".gz") ? gunzipSync(bytes) : bytes));
    if ("unrecognised" in transcript) continue;
    for (const conversation of transcript.conversations) {
      for (const { items } of strandsOf(conversation)) yield { name, items };
    }
  }
}
