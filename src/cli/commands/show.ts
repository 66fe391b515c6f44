import type { CommandBody, Terminal } from "../command.ts";
import type { SessionLook, WriterState } from "../../index.ts";
import { flagOf, LIMIT_OPTION, sessionIn, STORE_OPTION, textOf, wholeOf } from "../options.ts";
import { paint } from "../paint.ts";
import { inStore, kernelOn, lookIn } from "../session/place.ts";
import { type Timeline, timelineOf } from "../session/timeline.ts";
import { linesOf } from "../session/timeline-text.ts";
import { whileSaying } from "../session/waiting.ts";
import { ago, count } from "../words.ts";
import { wrapped } from "../wrap.ts";

const SHOWN = 100;

export const show: CommandBody = {
  usage: "holdfast show SESSION [--limit N] [--after RECORD] [--all] [--full] [--store FILE]",
  examples: [
    "holdfast show rename-foo                 the newest hundred lines",
    "holdfast show rename-foo --after 0       from the beginning",
    "holdfast show rename-foo --full          every word, nothing cut to a line",
    "holdfast show rename-foo --json | jq '.events[] | select(.what == \"call\")'",
  ],
  options: {
    store: STORE_OPTION,
    limit: { ...LIMIT_OPTION, help: `at most so many lines (default ${SHOWN}); 0 for all` },
    after: { type: "string", value: "RECORD", help: "go on behind this record, oldest first" },
    all: { type: "boolean", help: "also checkpoints, views and changes of the state" },
    full: { type: "boolean", help: "whole texts, arguments and outputs" },
  },
  pages: true,
  async run(parsed, terminal) {
    const id = sessionIn(parsed);
    const limit = wholeOf(parsed, "limit", SHOWN);
    const after = textOf(parsed, "after") === undefined ? undefined : wholeOf(parsed, "after", 0);
    return inStore(parsed, terminal, async (place) => {
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
    terminal.out(paint(terminal, "yellow", `waiting: ${tool} ${callId} for ${waitsFor}`));
}
