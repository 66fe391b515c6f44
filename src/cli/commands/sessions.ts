import { HoldfastError } from "../../base/errors.ts";
import type { DamagedRow, Holdfast, SessionId, SessionRow, Store } from "../../index.ts";
import type { CommandBody, ExitCode, Terminal } from "../command.ts";
import { flagOf, LIMIT_OPTION, STORE_OPTION, textOf, usage, wholeOf } from "../options.ts";
import { paint } from "../paint.ts";
import { kernelOn, lookingAt, type Place } from "../session/place.ts";
import { whileSaying } from "../session/waiting.ts";
import { ago, count, grouped, oneLine } from "../words.ts";

const SHOWN = 50;
const LONGEST_ID = 28;
const PAGE = 256;

export const sessions: CommandBody = {
  usage: "holdfast sessions [--limit N] [--after SESSION] [--store FILE]",
  examples: [
    "holdfast sessions",
    "holdfast sessions --limit 10 --after rename-foo     the next ten",
    "holdfast sessions --json | jq '.sessions[].id'",
  ],
  options: {
    store: STORE_OPTION,
    limit: { ...LIMIT_OPTION, help: `at most this many (default ${SHOWN}); 0 for all` },
    after: { type: "string", value: "SESSION", help: "continue after this one" },
  },
  pages: true,
  async run(parsed, terminal) {
    if (parsed.positionals.length > 0) throw usage(String(parsed.positionals[0]), "holdfast show SESSION shows one");
    const limit = wholeOf(parsed, "limit", SHOWN);
    const none = (store: string) => {
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify({ ok: true, store, sessions: [], more: 0 }));
      else {
        terminal.out("no sessions: `holdfast run` and `holdfast chat` begin one, in a store made here:");
        terminal.out(store);
      }
      return 0 as const;
    };
    const list = async (place: Place): Promise<ExitCode> => {
      const holdfast = await kernelOn(place);
      let read = 0;
      const { page, more } = await whileSaying(
        terminal,
        () => `${read} sessions read`,
        async () => {
          const known = new Set<string>();
          for await (const { id } of holdfast.sessions()) known.add(id);
          // What sessions share lies in the store like one, and is none; a damaged row may be anything.
          const all = (await newestFirst(place.store, () => (read += 1))).filter(
            ({ row }) => "damaged" in row || known.has(row.id),
          );
          const from = startAfter(all, textOf(parsed, "after"));
          const chosen = all.slice(from, limit === 0 ? undefined : from + limit);
          const listed: Listed[] = [];
          for (const one of chosen) listed.push(await listedOf(holdfast, one));
          return { page: listed, more: all.length - from - chosen.length };
        },
      );
      const next = more > 0 ? page.at(-1)?.id : undefined;
      if (flagOf(parsed, "json"))
        terminal.out(
          JSON.stringify({
            ok: true,
            store: place.path,
            sessions: page,
            more,
            ...(next === undefined ? {} : { next }),
          }),
        );
      else if (page.length === 0)
        terminal.out(textOf(parsed, "after") === undefined ? "no sessions" : "no more sessions");
      else tell(terminal, page, more, next);
      return 0;
    };
    return lookingAt(parsed, terminal, list, none);
  },
};

/** One session as `--json` tells it. */
interface Listed {
  readonly id: string;
  readonly createdAt?: string;
  readonly lastAt?: string;
  readonly records?: number;
  readonly writer?: string;
  /** Calls that run, or were cut off. */
  readonly openCalls?: number;
  readonly waiting?: number;
  readonly forkedFrom?: string;
  /** The first words of the user. */
  readonly said?: string;
  /** Why it cannot be opened as it is. */
  readonly damaged?: string;
}

type Found = { readonly row: SessionRow; readonly lastAt: string } | { readonly row: DamagedRow; readonly lastAt: "" };

/** Every session with the time of its newest record. Damaged ones come first: somebody should look at them. */
async function newestFirst(store: Store, seen: () => void): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (let after: SessionId | "" = ""; ; ) {
    const page: readonly Found[] = await store.reading(async (read) => {
      const rows: Found[] = [];
      for (const row of await read.sessions(after, PAGE)) {
        if ("damaged" in row) rows.push({ row, lastAt: "" });
        else {
          const [last] = await read.records(row, { from: row.head.seq, to: row.head.seq, limit: 1 });
          rows.push({ row, lastAt: last?.at ?? row.createdAt });
        }
        seen();
      }
      return rows;
    });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.row.id;
  }
  const rank = ({ lastAt }: Found) => (lastAt === "" ? Number.POSITIVE_INFINITY : Date.parse(lastAt));
  return found.sort((a, b) => (rank(b) === rank(a) ? (a.row.id < b.row.id ? -1 : 1) : rank(b) > rank(a) ? 1 : -1));
}

function startAfter(all: readonly Found[], id: string | undefined): number {
  if (id === undefined) return 0;
  const at = all.findIndex(({ row }) => row.id === id);
  if (at === -1) throw new HoldfastError("SESSION_UNKNOWN", { session: id });
  return at + 1;
}

async function listedOf(holdfast: Holdfast, { row, lastAt }: Found): Promise<Listed> {
  if ("damaged" in row) return { id: row.id, damaged: row.damaged };
  const basic = { id: row.id, createdAt: row.createdAt, lastAt, records: row.head.seq - row.anchor.seq };
  try {
    const look = await holdfast.look(row.id);
    const shared = Math.max(0, ...row.segments.map(({ through }) => through ?? 0));
    let [said, forkedFrom]: (string | undefined)[] = [];
    for await (const entry of look.read()) {
      if (entry.kind !== "user-said") continue;
      said = oneLine(entry.text, 200);
      break;
    }
    if (shared > 0)
      for await (const entry of look.read({ from: shared + 1 })) {
        if (entry.kind !== "forked") continue;
        forkedFrom = entry.from;
        break;
      }
    return {
      ...basic,
      writer: look.writer,
      openCalls: look.openCalls.length,
      waiting: look.waiting.length,
      ...(forkedFrom === undefined ? {} : { forkedFrom }),
      ...(said === undefined ? {} : { said }),
    };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { ...basic, damaged: `${error.code}: ${error.message}` };
  }
}

function tell(terminal: Terminal, page: readonly Listed[], more: number, next: string | undefined): void {
  const now = Date.now();
  const rows = page.map((one) => [
    one.id,
    one.lastAt === undefined ? "" : ago(one.lastAt, now),
    one.records === undefined ? "" : grouped(one.records),
    stateOf(one),
  ]);
  const heads = ["SESSION", "LAST", "RECORDS", "STATE"];
  const most = terminal.columns === undefined ? Number.POSITIVE_INFINITY : LONGEST_ID;
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...rows.map((row) => row[at]?.length ?? 0).filter((width) => at > 0 || width <= most)),
  );
  const aligned = (row: readonly string[]) =>
    row.map((cell, at) => (at === 2 ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0))).join("  ");
  terminal.out(paint(terminal, "bold", aligned(heads).trimEnd()));
  for (const [at, row] of rows.entries()) {
    const [id = "", ...rest] = row;
    // A long name is never cut, because it is what one copies: it gets a line of its own.
    if (id.length > most) terminal.out(id);
    const before = aligned([id.length > most ? "" : id, ...rest]);
    const left = terminal.columns === undefined ? undefined : Math.max(8, terminal.columns - before.length - 2);
    terminal.out(`${before}  ${paint(terminal, "dim", oneLine(page[at]?.said ?? "", left))}`.trimEnd());
  }
  if (more > 0) terminal.out(`… ${count(more, "more", "more")}: holdfast sessions --after ${next}`);
}

function stateOf({ damaged, writer, openCalls = 0, waiting = 0, forkedFrom }: Listed): string {
  if (damaged !== undefined) return "damaged";
  const states: string[] = [];
  if (writer === "held") states.push(openCalls > 0 ? `running ${openCalls}` : "in use");
  else if (openCalls > 0) states.push("cut off");
  if (waiting > 0) states.push(`waits for you`);
  if (forkedFrom !== undefined) states.push("fork");
  return states.join(", ") || "closed";
}
