import { closeSync, createReadStream, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Log, OpenLog } from "../log.ts";

/** A line per record and a sync per append: the least a file can do. A torn last line is somebody else's problem. */
const jsonl: Log = { open: async (folder) => openJsonl(join(folder, "records.jsonl")) };
export default jsonl;

function openJsonl(path: string): OpenLog {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "a");
  return {
    append(texts) {
      const at = new Date().toISOString();
      writeSync(file, texts.map((text) => `${JSON.stringify({ kind: "user-said", at, text })}\n`).join(""));
      fsyncSync(file);
    },
    async *texts() {
      for await (const line of createInterface({ input: createReadStream(path) })) yield textIn(line);
    },
    async newest() {
      let newest: string | undefined;
      for await (const line of createInterface({ input: createReadStream(path) })) newest = textIn(line);
      return newest;
    },
    close() {
      closeSync(file);
    },
  };
}

function textIn(line: string): string {
  return (JSON.parse(line) as { readonly text: string }).text;
}
