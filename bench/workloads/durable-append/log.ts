import { createHash } from "node:crypto";

/** A way to keep records durably: what acknowledges an append must survive the loss of power. */
export interface Log {
  open(folder: string): Promise<OpenLog>;
}

export interface OpenLog {
  /** Durable when it resolves; several records are one transaction. */
  append(texts: readonly string[]): Promise<void> | void;
  /** All records, oldest first. */
  texts(): AsyncIterable<string> | Iterable<string>;
  newest(): Promise<string | undefined> | string | undefined;
  close(): Promise<void> | void;
}

/**
 * 1 KB as the JSON of a record's body. Every one is different. In hexadecimal, for among a hundred megabytes of base64 there
 * are one or two words that look like a token, and are kept hidden.
 */
export function textOf(seed: string, index: number): string {
  return createHash("shake256", { outputLength: 506 }).update(`${seed}/${index}`).digest("hex");
}

export function textsOf(seed: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => textOf(seed, index));
}

/** How many, and which, in order: read as a stranger would, through a new connection. */
export async function proofOf(log: Log, folder: string): Promise<string> {
  const open = await log.open(folder);
  const digest = createHash("sha256");
  let count = 0;
  for await (const text of open.texts()) {
    digest.update(`${text}\n`);
    count += 1;
  }
  await open.close();
  return `${count} ${digest.digest("hex")}`;
}
