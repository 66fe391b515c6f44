import type { CommandBody, ExitCode, Parsed, Terminal } from "../command.ts";
import { type Holdfast, type HistoryUsage, type SessionLook, sumOfUsage, type WriterState } from "../../index.ts";
import { flagOf, LIMIT_OPTION, sessionIn, STORE_OPTION, textOf, wholeOf } from "../options.ts";
import { paint } from "../paint.ts";
import { isMissed, usageIn, usageJson, usageLines } from "../session/history-usage.ts";
import { kernelOn, lookIn, lookingAt, type Place } from "../session/place.ts";
import { type Timeline, timelineOf } from "../session/timeline.ts";
import { linesOf } from "../session/timeline-text.ts";
import { whileSaying } from "../session/waiting.ts";
import { ago, count } from "../words.ts";
import { wrapped } from "../wrap.ts";

const SHOWN = 100;

export const show: CommandBody = {
  usage:
    "holdfast show SESSION [--limit N] [--after RECORD] [--all] [--full] [--store FILE]\n" +
    "       holdfast show [SESSION…] --history-usage [--store FILE]",
  examples: [
    "holdfast show rename-foo                 the newest hundred lines",
    "holdfast show rename-foo --after 0       from the beginning",
    "holdfast show rename-foo --full          every word, nothing cut to a line",
    "holdfast show rename-foo --json | jq '.events[] | select(.what == \"call\")'",
    "holdfast show --history-usage            how the history of every session was kept and read",
  ],
  options: {
    store: STORE_OPTION,
    limit: { ...LIMIT_OPTION, help: `at most this many lines (default ${SHOWN}); 0 for all` },
    after: { type: "string", value: "RECORD", help: "continue after this record, oldest first" },
    all: { type: "boolean", help: "also show checkpoints, views and changes of the state" },
    full: { type: "boolean", help: "show whole texts, arguments and outputs" },
    "history-usage": {
      type: "boolean",
      help: "report how conversation_history was kept and read, in these sessions or in all; exit 1 if a record or a hint is missing",
    },
  },
  pages: true,
  async run(parsed, terminal) {
    if (flagOf(parsed, "history-usage")) return lookingAt(parsed, terminal, (place) => usage(parsed, terminal, place));
    const id = sessionIn(parsed);
    const limit = wholeOf(parsed, "limit", SHOWN);
    const after = textOf(parsed, "after") === undefined ? undefined : wholeOf(parsed, "after", 0);
    return lookingAt(parsed, terminal, async (place) => {
      const look = await lookIn(place, await kernelOn(place), id);
      let read = 0;
      const counted = async function* () {
        for await (const entry of look.read()) {
          read = entry.seq;
          yield entry;
        }
      };
      const timeline = await whileSaying(
        terminal,
        () => `${read} of ${look.row.head.seq} records read`,
        () => timelineOf(counted(), { all: flagOf(parsed, "all"), limit, ...(after === undefined ? {} : { after }) }),
      );
      const mode = await look.mode();
      if (flagOf(parsed, "json")) terminal.out(JSON.stringify(jsonOf(look, mode, timeline)));
      else tell(terminal, look, mode, timeline, flagOf(parsed, "full"));
      return 0;
    });
  },
};

/** Over the sessions that are named, or over all of them. */
async function usage(parsed: Parsed, terminal: Terminal, place: Place): Promise<ExitCode> {
  const holdfast = await kernelOn(place);
  const ids = parsed.positionals.length > 0 ? parsed.positionals : await allIn(holdfast);
  let read = 0;
  const found: { readonly session: string; readonly usage: HistoryUsage }[] = [];
  await whileSaying(
    terminal,
    () => `${read} records read`,
    async () => {
      for (const session of ids) {
        const look = await lookIn(place, holdfast, session);
        found.push({ session, usage: await usageIn(look, () => (read += 1)) });
      }
    },
  );
  const total = sumOfUsage(found.map((one) => one.usage));
  if (flagOf(parsed, "json")) {
    const sessions = found.map((one) => ({ session: one.session, ...usageJson(one.usage) }));
    terminal.out(JSON.stringify({ ok: !isMissed(total), sessions, total: usageJson(total) }));
  } else {
    for (const one of found) for (const line of usageLines(terminal, one.session, one.usage)) terminal.out(line);
    if (found.length !== 1)
      for (const line of usageLines(terminal, count(found.length, "session"), total)) terminal.out(line);
  }
  return isMissed(total) ? 1 : 0;
}

async function allIn(holdfast: Holdfast): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of holdfast.sessions()) ids.push(id);
  return ids;
}

function jsonOf(look: SessionLook, mode: string, { events, earlier, later }: Timeline) {
  const { id, row, writer } = look;
  const last = events.at(-1)?.seq;
  return {
    ok: true,
    session: id,
    createdAt: row.createdAt,
    records: { oldest: row.anchor.seq + 1, newest: row.head.seq },
    writer,
    mode,
    openCalls: look.openCalls,
    waiting: look.waiting,
    events,
    earlier,
    later,
    ...(later > 0 && last !== undefined ? { next: last } : {}),
  };
}

const WRITER: Readonly<Record<WriterState, string>> = {
  closed: "closed",
  held: "in use by another process",
  died: "its writer died; opening it recovers it",
  silent: "its writer fell silent; opening it recovers it",
};

function tell(terminal: Terminal, look: SessionLook, mode: string, timeline: Timeline, full: boolean): void {
  const { id, row } = look;
  const now = Date.now();
  const facts = [
    count(row.head.seq, "record"),
    `${mode} mode`,
    WRITER[look.writer],
    `begun ${ago(row.createdAt, now)}`,
  ];
  for (const line of wrapped(`${id}: ${facts.join(", ")}`, terminal.columns))
    terminal.out(line.startsWith(id) ? `${paint(terminal, "bold", id)}${line.slice(id.length)}` : line);
  const { events, earlier, later } = timeline;
  terminal.out("");
  if (earlier > 0 && later === 0)
    terminal.out(paint(terminal, "dim", `… ${earlier} earlier: holdfast show ${id} --after 0`));
  for (const event of events) for (const line of linesOf(event, terminal, full)) terminal.out(line);
  if (later > 0)
    terminal.out(paint(terminal, "dim", `… ${later} later: holdfast show ${id} --after ${events.at(-1)?.seq}`));
  for (const { tool, waitsFor, callId } of look.waiting)
    terminal.out(
      paint(terminal, "yellow", `waiting: ${tool} ${callId} for ${waitsFor === "answer" ? "an answer" : "consent"}`),
    );
}
