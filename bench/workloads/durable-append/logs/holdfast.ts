import { join } from "node:path";
import { createHoldfast } from "../../../../src/index.ts";
import { type SqliteOptions, sqlite } from "../../../../src/stores/sqlite/entry.ts";
import type { Log, OpenLog } from "../log.ts";

/** Through the public door, with everything on: checksums, limits, lease, epoch, checkpoints. */
export function holdfastLog(options: SqliteOptions = {}): Log {
  return { open: (folder) => openHoldfast(join(folder, "holdfast.db"), options) };
}

async function openHoldfast(path: string, options: SqliteOptions): Promise<OpenLog> {
  const holdfast = await createHoldfast({ store: sqlite(path, options) });
  const session = await holdfast.open("bench");
  const texts = async function* (reverse: boolean): AsyncIterable<string> {
    for await (const entry of session.read({ reverse })) {
      // A checkpoint that a newer one replaced leaves its header behind; everything that was appended must be there.
      const replaced = entry.kind === "dropped" && entry.was === "checkpoint-kept";
      const lost = entry.kind === "damaged" || (entry.kind === "dropped" && !replaced);
      if (lost) throw new Error(`record ${entry.seq} is ${entry.kind}`);
      if (entry.kind === "user-said") yield entry.text;
    }
  };
  return {
    async append(texts) {
      const [only] = texts;
      await session.append(
        texts.length === 1 && only !== undefined
          ? { kind: "user-said", text: only }
          : texts.map((text) => ({ kind: "user-said" as const, text })),
      );
    },
    texts: () => texts(false),
    async newest() {
      for await (const text of texts(true)) return text;
      return undefined;
    },
    async close() {
      await session.close();
      await holdfast.close();
    },
  };
}
