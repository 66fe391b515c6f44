import { join } from "node:path";
import type { Log, OpenLog } from "../log.ts";

/** What both drivers have, and the reference needs. */
export interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): {
    run(...values: readonly (string | number)[]): unknown;
    get(...values: readonly (string | number)[]): unknown;
    iterate(...values: readonly (string | number)[]): Iterable<unknown>;
  };
  close(): unknown;
}

const SESSION = "bench";

/**
 * The reference: what a careful engineer writes by hand for one session in one process. No checksums, no limits, no
 * lease; durable all the same, and read back to be sure.
 */
export function rawLog(connect: (path: string) => Connection): Log {
  return { open: async (folder) => openRaw(connect(join(folder, "raw.db"))) };
}

function openRaw(connection: Connection): OpenLog {
  connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  const { synchronous } = connection.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  if (synchronous !== 2) throw new Error(`synchronous is ${synchronous}`);
  connection.exec(
    "CREATE TABLE IF NOT EXISTS records (session TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session, seq)) STRICT",
  );
  const begin = connection.prepare("BEGIN IMMEDIATE");
  const commit = connection.prepare("COMMIT");
  const insert = connection.prepare("INSERT INTO records (session, seq, kind, at, body) VALUES (?, ?, ?, ?, ?)");
  const all = connection.prepare("SELECT body FROM records WHERE session = ? ORDER BY seq");
  const last = connection.prepare("SELECT seq, body FROM records WHERE session = ? ORDER BY seq DESC LIMIT 1");
  const newest = () => last.get(SESSION) as { readonly seq: number; readonly body: string } | undefined;
  let head = newest()?.seq ?? 0;

  const add = (text: string) => {
    head += 1;
    insert.run(SESSION, head, "user-said", new Date().toISOString(), JSON.stringify({ text }));
  };
  return {
    append(texts) {
      const [only] = texts;
      // One statement is a transaction by itself: the least there is to pay.
      if (texts.length === 1 && only !== undefined) return add(only);
      begin.run();
      for (const text of texts) add(text);
      commit.run();
    },
    *texts() {
      for (const row of all.iterate(SESSION)) yield textIn((row as { readonly body: string }).body);
    },
    newest() {
      const row = newest();
      return row === undefined ? undefined : textIn(row.body);
    },
    close() {
      connection.close();
    },
  };
}

function textIn(body: string): string {
  return (JSON.parse(body) as { readonly text: string }).text;
}
