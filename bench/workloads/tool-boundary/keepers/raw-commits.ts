import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Change, State } from "../shape.ts";
import type { TracedCommit } from "../trace.ts";
import { openHoldfast } from "./holdfast-sqlite.ts";

/**
 * The reference: as many commits as Holdfast makes for these calls, with as many bytes in each, and nothing else. WAL,
 * `synchronous=FULL`, prepared statements; what it writes was made before the clock started.
 */
export async function openRaw(start: State, changes: readonly Change[], folder: string) {
  const trace = await traceOf(start, changes, folder);
  const longest = Math.max(...trace.flat(), 1);
  const noise = createHash("shake256", { outputLength: Math.ceil((longest * 3) / 4) })
    .update("raw")
    .digest("base64");
  const connection = new DatabaseSync(join(folder, "raw.db"));
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  if (synchronous !== 2) throw new Error(`synchronous is ${synchronous}`);
  connection.exec("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const insert = connection.prepare("INSERT INTO texts (text) VALUES (?)");
  const commits = trace.filter((sizes) => sizes.length > 0).map((sizes) => sizes.map((size) => noise.slice(0, size)));
  return {
    commits: commits.length,
    write(index: number) {
      begin.run();
      for (const text of commits[index] ?? []) insert.run(text);
      commit.run();
    },
    written: () =>
      (connection.prepare("SELECT sum(length(text)) AS bytes FROM texts").get() as { bytes: number }).bytes,
    expected: trace.flat().reduce((sum, size) => sum + size, 0),
    close: () => connection.close(),
  };
}

/** What Holdfast commits for these calls, once the session is open. */
async function traceOf(start: State, changes: readonly Change[], folder: string): Promise<readonly TracedCommit[]> {
  const place = join(folder, "traced");
  mkdirSync(place, { recursive: true });
  const commits: TracedCommit[] = [];
  const open = await openHoldfast(start, place, (commit) => commits.push(commit));
  commits.length = 0;
  await open.calls(changes, () => {});
  const traced = commits.slice();
  await open.close();
  return traced;
}
