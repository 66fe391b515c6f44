import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Rig, within } from "./rig.ts";
import { ended, removeFolder, scratchFolder, startChild } from "./scratch.ts";
import type { SoakSays } from "./soak-worker.ts";

/** What a session may add, seen between two moments of rest. A session that is remembered adds three times as much. */
const BYTES_PER_SESSION = 8 * 1024;
const LITTLE = 1024;
/** Of the collector and of code that is compiled. */
const SLACK = 4 * 1024 * 1024;
/** After this part of the sessions everything that is made once has been made. */
const WARM = 0.3;
const EXIT_MS = 1_000;
const BARE_MS = 100;
const HOUR = 60 * 60_000;

export const soak: Rig = {
  about: "a thousand sessions of twenty calls in one process, fifty at a time: memory flat, nothing left, a quick exit",
  cases: 1_000,
  quickCases: 200,
  async run(tally, { cases, seed, extra }) {
    const folder = scratchFolder("soak");
    const minutes = Number(extra.get("minutes") ?? 0);
    const orders = JSON.stringify({ path: join(folder, "store.db"), seed, sessions: cases, minutes });
    const program = fileURLToPath(new URL("soak-worker.ts", import.meta.url));
    const child = startChild(
      process.execPath,
      ["--expose-gc", "--disable-warning=ExperimentalWarning", program, orders],
      { stdio: ["ignore", "inherit", "inherit", "pipe"] },
    );
    const heap: { readonly sessions: number; readonly bytes: number }[] = [];
    let closedAt: number | undefined;
    let left: readonly string[] = [];
    const listen = async () => {
      for await (const line of createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })) {
        const says = JSON.parse(line) as SoakSays;
        if (says.said === "session") tally.done(says.name, says.wrong);
        if (says.said === "heap") heap.push(says);
        if (says.said !== "closed") continue;
        closedAt = performance.now();
        left = says.left;
      }
    };
    await within(2 * HOUR, "the soak", Promise.all([listen(), ended(child)]));
    const exitMs = closedAt === undefined ? Number.POSITIVE_INFINITY : performance.now() - closedAt;
    tally.count("ms from close to exit", Math.round(exitMs));
    if (!(exitMs <= EXIT_MS * (await busyness())))
      tally.violation("exit", `it took ${exitMs.toFixed(0)} ms to exit after close`);
    if (left.length > 0) tally.violation("handles", `left after close: ${left.join(", ")}`);
    if (child.exitCode !== 0) tally.violation("exit", `the process ended with ${String(child.exitCode)}`);
    for (const what of growth(heap)) tally.violation("memory", what);
    tally.count("KB of heap at first", Math.round((heap[0]?.bytes ?? 0) / 1024));
    tally.count("KB of heap at the end", Math.round((heap.at(-1)?.bytes ?? 0) / 1024));
    removeFolder(folder);
  },
};

/** How many times slower than idle the machine is: a bare process lives for about a twentieth of a second. */
async function busyness(): Promise<number> {
  const started = performance.now();
  await ended(startChild(process.execPath, ["-e", ""], { stdio: "ignore" }));
  return Math.max(1, (performance.now() - started) / BARE_MS);
}

/** Flat: from rest to rest, mostly, nothing is added. The median, because now and then code is compiled or thrown away. */
function growth(heap: readonly { readonly sessions: number; readonly bytes: number }[]): readonly string[] {
  const added = heap.slice(1).map(({ sessions, bytes }, at) => {
    const before = heap[at] ?? { sessions: 0, bytes: 0 };
    return (bytes - before.bytes) / (sessions - before.sessions);
  });
  const each = added.toSorted((a, b) => a - b)[added.length >> 1];
  const [warm, last] = [heap[Math.floor(heap.length * WARM)], heap.at(-1)];
  if (each === undefined || warm === undefined || last === undefined) return ["it was not measured"];
  if (each > BYTES_PER_SESSION) return [`the heap grows by ${Math.round(each)} bytes with every session`];
  // In a long run also what few sessions add.
  const grown = last.bytes - warm.bytes;
  const allowed = SLACK + LITTLE * (last.sessions - warm.sessions);
  return grown <= allowed ? [] : [`the heap grew by ${grown} bytes in ${last.sessions - warm.sessions} sessions`];
}
