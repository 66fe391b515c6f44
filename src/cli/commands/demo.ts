import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { styleText } from "node:util";
import { INTERRUPTED, type JournalEntry, type Session } from "../../index.ts";
import type { CommandBody, ExitCode, Terminal } from "../command.ts";
import { type ChildSays, runChild } from "./demo-child.ts";
import { KILLED_AT, LAST_WORDS, STEPS } from "./demo-script.ts";
import { setStage, type Stage } from "./demo-work.ts";

const SESSION = "demo";

export const demo: CommandBody = {
  usage: "holdfast demo [--keep]",
  examples: ["holdfast demo", "holdfast demo --json", "holdfast demo --keep      leaves the store for you to look at"],
  options: {
    keep: { type: "boolean", help: "keep the store and say where it is" },
    child: { type: "string", help: "", hidden: true },
  },
  async run({ values }, terminal) {
    const { child } = values;
    if (typeof child === "string") return runChild(child, SESSION, (line) => terminal.out(JSON.stringify(line)));
    const folder = mkdtempSync(join(tmpdir(), "holdfast-demo-"));
    const show = new Show(terminal, values["json"] === true);
    try {
      await play(join(folder, "sessions.db"), show);
      return show.finish(values["keep"] === true ? join(folder, "sessions.db") : undefined);
    } finally {
      if (values["keep"] !== true) rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function play(store: string, show: Show): Promise<void> {
  show.title("holdfast demo: a session is killed in the middle of its work");
  show.chapter("An agent works: a model behind a strict provider, tools, a store on disk.");
  const acknowledged = await workUntilKilled(store, show);
  show.text("");
  show.text("  The process is gone, and a call has no output. Sent like this, providers");
  show.text("  refuse the session, on this turn and on every later one.");

  show.chapter("Another process opens the session.");
  const stage = await setStage(store, 1, async () => {});
  try {
    await goOn(stage, acknowledged, show);
  } finally {
    await stage[Symbol.asyncDispose]();
  }
}

async function goOn(stage: Stage, acknowledged: number, show: Show): Promise<void> {
  const started = performance.now();
  const session = await stage.holdfast.open(SESSION);
  const took = performance.now() - started;
  show.note("reopenedInMs", Math.round(took * 10) / 10, "reopened in");
  await checkRecovery(session, acknowledged, show);
  await session.close();
  const again = await stage.holdfast.open(SESSION);
  show.claim("opening it a second time changes nothing", again.journal.head.seq === session.journal.head.seq);

  show.chapter("And the turn goes on where it stopped.");
  await finishWork(again, stage, show);
  await checkWhole(again, stage, show);
  await again.close();
}

/** Runs the first half in a child and kills it as soon as it says that the seventh call is open. */
async function workUntilKilled(store: string, show: Show): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", "demo", "--child", store], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let acknowledged = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const says = JSON.parse(line) as ChildSays;
    acknowledged = says.seq;
    await show.call(
      says.index,
      says.tool,
      says.said === "closed" ? `record ${says.seq} acknowledged` : "running …",
      says.said === "closed",
    );
    if (says.said === "opened") child.kill("SIGKILL");
  }
  await ended;
  show.claim("the process died by SIGKILL", child.signalCode === "SIGKILL");
  return acknowledged;
}

async function checkRecovery(session: Session, acknowledged: number, show: Show): Promise<void> {
  const entries = await entriesOf(session);
  const killed = STEPS[KILLED_AT];
  const closed = entries.filter((entry) => entry.kind === "call-closed");
  const repaired = closed.find((entry) => session.recovered.closedCalls.includes(entry.callId));
  show.note("acknowledgedBeforeTheKill", acknowledged);
  const survivors = entries.filter((entry) => entry.kind !== "damaged" && entry.seq <= acknowledged);
  show.claim(`all ${acknowledged} acknowledged records are there`, survivors.length === acknowledged);
  const cart = await session.files.readText("src/cart.ts");
  const half = await session.files.exists("test-report.txt");
  show.claim("the edits are there, and nothing of the call that was cut off", cart.includes("sum(") && !half);
  show.claim(
    `the open call, ${killed?.tool}, was closed as canceled, once`,
    session.recovered.closedCalls.length === 1 && repaired?.status === "canceled",
  );
  show.text("    the model will read:");
  for (const sentence of INTERRUPTED.split(/(?<=\.) /)) show.text(`      ${sentence}`);
  show.claim("every call has exactly one output", callsPair(entries));
}

/** A turn without input: the journal knows what was asked. */
async function finishWork(session: Session, { model }: Stage, show: Show): Promise<void> {
  let index = KILLED_AT + 1;
  for await (const event of session.run(undefined, { model })) {
    if (event.kind === "end")
      show.claim(
        "the turn ended with the model's last word",
        event.end.status === "done" && event.end.text === LAST_WORDS,
      );
    if (event.kind !== "call-closed") continue;
    await show.call(index, event.outcome.tool, `record ${session.journal.head.seq} acknowledged`, event.outcome.ok);
    index += 1;
  }
}

async function checkWhole(session: Session, { holdfast, provider }: Stage, show: Show): Promise<void> {
  const report = await holdfast.verify();
  const entries = await entriesOf(session);
  show.text("");
  show.claim("the strict provider took every request", provider.requests.length > 0 && provider.refused.length === 0);
  show.claim(
    `${entries.length} records, every checksum and every link proven`,
    report.ok && entries.length === session.journal.head.seq,
  );
  show.claim("every call has exactly one output", callsPair(entries));
  show.note("records", entries.length);
}

async function entriesOf(session: Session): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of session.read()) entries.push(entry);
  return entries;
}

function callsPair(entries: readonly JournalEntry[]): boolean {
  const opened = entries.filter((entry) => entry.kind === "call-opened").map((entry) => entry.callId);
  const closed = entries.filter((entry) => entry.kind === "call-closed").map((entry) => entry.callId);
  return (
    opened.length === closed.length &&
    new Set(opened).size === opened.length &&
    opened.every((callId) => closed.includes(callId))
  );
}

/** Says what happens, and counts the claims: the demo fails when one of them is not true. */
class Show {
  readonly #terminal: Terminal;
  readonly #json: boolean;
  readonly #claims: { readonly claim: string; readonly holds: boolean }[] = [];
  readonly #notes: Record<string, number> = {};

  constructor(terminal: Terminal, json: boolean) {
    this.#terminal = terminal;
    this.#json = json;
  }

  title(text: string): void {
    this.text(this.#style("bold", text));
  }

  chapter(text: string): void {
    this.text(`\n${this.#style("bold", text)}\n`);
  }

  text(text: string): void {
    if (!this.#json) this.#terminal.out(text);
  }

  async call(index: number, tool: string, what: string, done: boolean): Promise<void> {
    const mark = done ? this.#style("green", "✓") : this.#style("yellow", "…");
    this.text(`  ${String(index + 1).padStart(2)} ${mark} ${tool.padEnd(12)} ${this.#style("dim", what)}`);
    if (this.#terminal.forPeople && !this.#json) await pause(180);
  }

  note(name: string, value: number, text?: string): void {
    this.#notes[name] = value;
    if (text !== undefined) this.text(`  ${text} ${value} ms`);
  }

  claim(claim: string, holds: boolean): void {
    this.#claims.push({ claim, holds });
    this.text(`  ${holds ? this.#style("green", "✓") : this.#style("red", "✗")} ${claim}`);
  }

  finish(store: string | undefined): ExitCode {
    const broken = this.#claims.filter((claim) => !claim.holds);
    if (this.#json) {
      this.#terminal.out(
        JSON.stringify({
          ok: broken.length === 0,
          ...this.#notes,
          claims: this.#claims,
          ...(store === undefined ? {} : { store }),
        }),
      );
    } else {
      this.text("");
      this.text(
        broken.length === 0
          ? `All ${this.#claims.length} claims above were checked while they were made.`
          : `${broken.length} claims did not hold.`,
      );
      if (store === undefined) this.text("Try next: holdfast demo --keep, then holdfast verify --store FILE");
      else this.text(`The store is kept. Try next: holdfast verify --store ${store}`);
    }
    return broken.length === 0 ? 0 : 1;
  }

  #style(style: "bold" | "dim" | "green" | "yellow" | "red", text: string): string {
    return this.#terminal.forPeople ? styleText(style, text, { validateStream: false }) : text;
  }
}
