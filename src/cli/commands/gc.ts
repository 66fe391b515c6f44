import { SystemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { SystemRandom } from "../../base/random.ts";
import {
  type BlobName,
  openJournal,
  planRetention,
  retain,
  type Retained,
  type RetentionBounds,
  type SessionRow,
  type SweepReport,
} from "../../index.ts";
import type { CommandBody, Parsed, Terminal } from "../command.ts";
import { durationIn, flagOf, sizeIn, STORE_OPTION, textOf, wholeOf } from "../options.ts";
import { shortCall } from "../session/calls.ts";
import { inStore, kernelOn, lookIn, lookingAt, type Place } from "../session/place.ts";
import { whileSaying } from "../session/waiting.ts";
import { bytes, count } from "../words.ts";
import { wrapped } from "../wrap.ts";

export const gc: CommandBody = {
  usage: "holdfast gc [SESSION] [--keep-records N] [--keep-bytes SIZE] [--keep-for TIME] [--dry-run] [--store FILE]",
  examples: [
    "holdfast gc                                   only content that nothing refers to any more",
    "holdfast gc --keep-for 30d --dry-run          what would be dropped",
    "holdfast gc rename-foo --keep-records 5000    one session",
  ],
  options: {
    "keep-records": { type: "string", value: "N", help: "keep only the newest N records of each session" },
    "keep-bytes": { type: "string", value: "SIZE", help: "keep at most this much of each session's records" },
    "keep-for": { type: "string", value: "TIME", help: "drop records that are older, e.g. 30d" },
    grace: { type: "string", value: "TIME", help: "leave unreferenced content alone for this long (default 1h)" },
    "dry-run": { type: "boolean", help: "say what would be removed, and remove nothing" },
    store: STORE_OPTION,
  },
  async run(parsed, terminal) {
    const dryRun = flagOf(parsed, "dry-run");
    return (dryRun ? lookingAt : inStore)(parsed, terminal, async (place) => {
      const bounds = boundsIn(parsed, place);
      const graceMs = durationIn(parsed, "grace") ?? place.config.values["retention.grace"] ?? 0;
      let says = "looking";
      const report = await whileSaying(
        terminal,
        () => says,
        async () => {
          const sessions: Forgotten[] = [];
          const bounded = Object.keys(bounds).length > 0;
          // A session that was named is looked for all the same: misspelt, it would seem to have been tidied.
          if (bounded || parsed.positionals.length > 0)
            for await (const row of rowsIn(parsed, place)) {
              if (!bounded) continue;
              says = `${row.id}: ${count(row.head.seq - row.anchor.seq, "record")}`;
              sessions.push(await forget(place, row, bounds, dryRun));
            }
          says = "sweeping";
          const holdfast = await kernelOn(place);
          const swept: Swept = dryRun
            ? {
                ...(await unnamed(place, graceMs)),
                imports: (await Array.fromAsync(holdfast.abandonedImports())).length,
              }
            : await holdfast.sweep({ graceMs });
          return { ok: true, dryRun, bounds, sessions, swept };
        },
      );
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify(report));
      else tell(terminal, report.sessions, report.swept, dryRun);
      return 0;
    });
  },
};

/** What became of one session. */
interface Forgotten extends Retained {
  readonly session: string;
  /** Left as it is: somebody is writing it, or it was cut off and has to be opened first. */
  readonly left?: "in use" | "cut off";
}

/** What was removed, or would be. */
type Swept = Partial<SweepReport> & { readonly imports: number };

const CLOCK = new SystemClock();

/** Flags over the configuration's `[retention]`. */
function boundsIn(parsed: Parsed, { config: { values } }: Place): RetentionBounds {
  const records =
    textOf(parsed, "keep-records") === undefined ? values["retention.records"] : wholeOf(parsed, "keep-records", 0);
  const most = sizeIn(parsed, "keep-bytes") ?? values["retention.bytes"];
  const ageMs = durationIn(parsed, "keep-for") ?? values["retention.age"];
  return {
    ...(records === undefined ? {} : { records }),
    ...(most === undefined ? {} : { bytes: most }),
    ...(ageMs === undefined ? {} : { ageMs }),
  };
}

async function* rowsIn({ positionals }: Parsed, place: Place): AsyncIterable<SessionRow> {
  const holdfast = await kernelOn(place);
  const [id, surplus] = positionals;
  if (surplus !== undefined) throw new HoldfastError("BAD_OPTION", { option: surplus, wants: "one session, or none" });
  if (id !== undefined) yield (await lookIn(place, holdfast, id)).row;
  else for await (const row of holdfast.sessions()) if (!("damaged" in row)) yield row; // the sweep will name those
}

async function forget({ store }: Place, row: SessionRow, bounds: RetentionBounds, dryRun: boolean): Promise<Forgotten> {
  const deps = { store, clock: CLOCK, random: new SystemRandom() };
  const plan = { session: row.id, ...(await planRetention(deps, row.id, bounds)) };
  if (plan.forgotten === 0) return plan;
  // Taking it from a writer that died would hide from the next one that it did.
  if (row.owner !== null)
    return {
      ...plan,
      forgotten: 0,
      left: !store.isDead(row.owner) && row.leaseUntil > CLOCK.now() ? "in use" : "cut off",
    };
  if (dryRun) return plan;
  const journal = await openJournal(deps, row.id, { create: false });
  try {
    return { session: row.id, ...(await retain(deps, journal, bounds)) };
  } finally {
    await journal.close();
  }
}

/** Large content that no record names and no writer can be about to. What lies inside the store is counted when it goes. */
async function unnamed({ store }: Place, graceMs: number): Promise<Pick<SweepReport, "blobs">> {
  const named = new Set<string>();
  for (let after: BlobName | "" = ""; ; ) {
    const page = await store.reading((read) => read.references(after, 1_000));
    for (const { name } of page) named.add(name);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.name;
  }
  let blobs = 0;
  for await (const { name } of store.blobs.list(CLOCK.now() - graceMs)) if (!named.has(name)) blobs += 1;
  return { blobs };
}

function whyOver(awaited: Retained["awaited"]): string {
  if (awaited === undefined) return "because everything after its newest checkpoint is needed";
  return `for ${awaited.map(shortCall).join(", ")}, which has not ended`;
}

function tell(terminal: Terminal, sessions: readonly Forgotten[], swept: Swept, dryRun: boolean): void {
  const say = (line: string) => {
    for (const one of wrapped(line, terminal.columns)) terminal.out(one);
  };
  for (const { session, forgotten, withinBounds, awaited, left } of sessions) {
    const bound = withinBounds ? "" : `; it stays over its limit ${whyOver(awaited)}`;
    if (left !== undefined) say(`${session}: left alone, ${left}`);
    else if (forgotten > 0 || !withinBounds)
      say(`${session}: ${dryRun ? "would drop" : "dropped"} ${count(forgotten, "record")}${bound}`);
  }
  const { records = 0, blobs = 0, bytes: freed = 0, shrunkBy = 0, imports } = swept;
  if (imports > 0) say(`${dryRun ? "would remove" : "removed"} ${count(imports, "import")} that had been cut off`);
  if (dryRun) say(`${count(blobs, "blob")} outside the store would go; nothing was removed`);
  else
    say(
      `removed ${count(records, "record")}, ${count(blobs, "blob")}, ${bytes(freed)}; the store file shrank by ${bytes(shrunkBy)}`,
    );
}
