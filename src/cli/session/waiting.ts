import type { Terminal } from "../command.ts";

const EVERY_MS = 1_000;

/** Runs something that may take long and says so on the other stream, from the first second on. */
export async function whileSaying<T>(terminal: Terminal, says: () => string, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => terminal.err(`… ${says()}`), EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
