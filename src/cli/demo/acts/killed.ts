import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { INTERRUPTED, type JournalEntry, type Session } from "../../../index.ts";
import { type ChildSays, QUESTION } from "../child.ts";
import { textIn } from "../project.ts";
import { onStage, type Stage, type Theatre } from "../stage.ts";

/** A process is killed while a call runs; another one opens the session and goes on. */
export async function killed(theatre: Theatre): Promise<void> {
  const { show } = theatre;
  const acknowledged = await workUntilKilled(theatre);
  show.note("acknowledgedBeforeTheKill", acknowledged);
  show.text(
    "This leaves a call without an output. Sent like this, providers refuse the session, now and on every later turn.",
  );

  const started = performance.now();
  await onStage(theatre, async (stage) => {
    show.note("reopenedInMs", Math.round(performance.now() - started));
    await checkRecovery(theatre, stage.session, acknowledged);
    await goOn(theatre, stage);
  });
}

/** Runs a turn in a child and kills it as soon as it says that the tests run. */
async function workUntilKilled({ show, workspace, children }: Theatre): Promise<number> {
  const argv = [...process.execArgv, process.argv[1] ?? "", "demo", "--child", workspace];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  children.add(child);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let acknowledged = 0;
  show.quote("user", QUESTION);
  for await (const line of createInterface({ input: child.stdout })) {
    const { seq, tool, what, said } = JSON.parse(line) as ChildSays;
    acknowledged = seq;
    await show.call(tool, what, said === "closed" ? "done" : "open");
    if (said === "opened") child.kill("SIGKILL");
  }
  await ended;
  children.delete(child);
  await show.claim(
    `the process died by SIGKILL; it had acknowledged ${acknowledged} records`,
    child.signalCode === "SIGKILL",
  );
  return acknowledged;
}

async function checkRecovery({ show, workspace }: Theatre, session: Session, acknowledged: number): Promise<void> {
  const entries = await entriesOf(session);
  const { closedCalls } = session.recovered;
  const closed = entries.filter((entry) => entry.kind === "call-closed" && closedCalls.includes(entry.callId));
  const survivors = entries.filter((entry) => entry.kind !== "damaged" && entry.seq <= acknowledged);
  await show.claim(
    `another process opens the session, and all ${acknowledged} records are there`,
    survivors.length === acknowledged,
  );
  const edited = ["src/report.ts", "src/cart.test.ts"].every((path) => textIn(workspace, path).includes("sum("));
  const half = existsSync(join(workspace, "test-report.txt"));
  await show.claim("the edits are in the folder, and nothing of the call that was cut off", edited && !half);
  const [first] = closed;
  const status = first?.kind === "call-closed" ? first.status : undefined;
  await show.claim("the open call was closed as canceled, once", closed.length === 1 && status === "canceled");
  show.quote("output", INTERRUPTED);
}

/** A turn without input: the journal knows what was asked. */
async function goOn({ show }: Theatre, { session, turn, provider }: Stage): Promise<void> {
  const { end } = await turn(undefined, [
    { text: "The run was cut off. Again.", calls: [{ name: "run_tests", input: {} }] },
    { text: "Renamed, and all tests pass." },
  ]);
  await show.claim("the turn goes on where it stood, and finishes", end.status === "done");
  const took = provider.requests.length > 0 && provider.refused.length === 0;
  await show.claim(
    "every call has exactly one output, and the strict provider accepts it",
    took && (await pairs(session)),
  );
}

async function entriesOf(session: Session): Promise<readonly JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for await (const entry of session.read()) entries.push(entry);
  return entries;
}

async function pairs(session: Session): Promise<boolean> {
  const ids = (kind: "call-opened" | "call-closed", entries: readonly JournalEntry[]) =>
    entries.flatMap((entry) => (entry.kind === kind ? [entry.callId] : [])).toSorted();
  const entries = await entriesOf(session);
  const opened = ids("call-opened", entries);
  return new Set(opened).size === opened.length && opened.join() === ids("call-closed", entries).join();
}
