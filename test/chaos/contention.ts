import { join } from "node:path";
import { audit } from "./auditor.ts";
import { startWitness, type Witness } from "./child.ts";
import { type ContenderOrders, SHARED } from "./contest.ts";
import { Ledger, type Testimony } from "./ledger.ts";
import { pause, type Rig, type Tally, within } from "./rig.ts";
import { removeFolder, scratchFolder } from "./scratch.ts";

const CONTENDERS = 4;
/** Long enough that a living holder on a loaded machine keeps it, short enough to sleep past. */
const LEASE_MS = 800;

interface Line {
  readonly name: string;
  readonly said: Testimony;
  readonly at: number;
}

/** One case is one append that was asked for; the checker sees them all, and every acknowledgement beside. */
export const contention: Rig = {
  about: `${CONTENDERS} processes × 1,000 version-checked appends, then the same for one lease, with stops and kills`,
  cases: CONTENDERS * 1_000,
  quickCases: CONTENDERS * 200,
  async run(tally, { cases, seed }) {
    const appends = Math.ceil(cases / CONTENDERS);
    const folder = scratchFolder("contention");
    for (const mode of ["versioned", "leased"] as const) {
      const wrong = await contend(tally, join(folder, mode, "store.db"), seed, mode, appends);
      for (let nth = 1; nth < appends * CONTENDERS; nth += 1) tally.done(mode, []);
      tally.done(mode, wrong);
    }
    removeFolder(folder);
  },
};

async function contend(
  tally: Tally,
  path: string,
  seed: string,
  mode: ContenderOrders["mode"],
  appends: number,
): Promise<readonly string[]> {
  const ledger = new Ledger();
  const history: Line[] = [];
  const start = (name: string, left: number): Witness =>
    startWitness(
      "contender.ts",
      JSON.stringify({ path, seed, name, mode, appends: left, leaseMs: LEASE_MS }),
      (said) => {
        ledger.note(said);
        history.push({ name, said, at: performance.now() });
      },
    );
  const names = Array.from({ length: CONTENDERS }, (_, index) => `c${index}`);
  const running = new Map(names.map((name) => [name, start(name, appends)]));
  const over = { all: false };
  const nemesis = mode === "leased" ? torment(tally, running, history, over, start, appends) : Promise.resolve();
  const everybody = (async () => {
    // Whoever is killed is replaced: the map grows while we wait.
    for (const witness of running.values()) await witness.ended;
  })();
  await within(600_000, mode, everybody);
  over.all = true;
  await nemesis;
  for (const witness of running.values()) await witness.ended;
  const wrong = [...(await audit(path, ledger)), ...checkHistory(history, mode)];
  const acked = history.filter(({ said }) => said.kind === "acked").length;
  tally.count("acknowledged", acked);
  tally.count("leases taken over", history.filter(({ said }) => said.kind === "took" && said.how === "expired").length);
  tally.count("leases lost", history.filter(({ said }) => said.kind === "lost").length);
  const finished = history.filter(({ said }) => said.kind === "done").length;
  if (finished < CONTENDERS) wrong.push(`${finished} of ${CONTENDERS} contenders came to their end`);
  if (acked < appends * CONTENDERS) wrong.push(`${acked} of ${appends * CONTENDERS} appends were acknowledged`);
  return wrong;
}

/** Stops whoever has just taken the lease, past its end, and wakes it again; or kills it and starts another in its place. */
async function torment(
  tally: Tally,
  running: Map<string, Witness>,
  history: readonly Line[],
  over: { all: boolean },
  start: (name: string, left: number) => Witness,
  appends: number,
): Promise<void> {
  const { random } = tally;
  while (!over.all) {
    const seen = history.length;
    await pause(50 + random.below(250));
    const holder = history.slice(seen).findLast(({ said }) => said.kind === "took")?.name;
    const witness = holder === undefined ? undefined : running.get(holder);
    if (holder === undefined || witness === undefined || !isAlive(witness)) continue;
    if (random.below(3) > 0) {
      witness.child.kill("SIGSTOP");
      await pause(LEASE_MS * 1.4);
      witness.child.kill("SIGCONT");
      tally.count("stops");
    } else {
      witness.child.kill("SIGKILL");
      await witness.ended;
      tally.count("kills");
      const done = history.filter((line) => line.name === holder && line.said.kind === "acked").length;
      const all = appends - Number(/:(\d+)$/.exec(holder)?.[1] ?? 0);
      const heir = `${holder.split(":")[0]}:${appends - all + done}`;
      running.set(heir, start(heir, all - done));
    }
  }
}

function isAlive({ child }: Witness): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Total order by sequence number; epochs never go back along it; nobody unharmed loses what it held. */
function checkHistory(history: readonly Line[], mode: ContenderOrders["mode"]): string[] {
  const wrong: string[] = [];
  const acked = history
    .flatMap(({ name, said }) => (said.kind === "acked" ? [{ name, ...said }] : []))
    .sort((a, b) => a.first - b.first);
  const seen = new Map<number, string>();
  let epoch = 0;
  for (const { name, first, epoch: own } of acked) {
    if (seen.has(first)) wrong.push(`${first} was acknowledged to ${seen.get(first)} and to ${name}`);
    seen.set(first, name);
    if (own < epoch) wrong.push(`${name} wrote ${first} under epoch ${own}, after epoch ${epoch} had begun`);
    epoch = Math.max(epoch, own);
  }
  if (mode === "versioned") return wrong;
  const epochs = new Map<number, string>();
  for (const { name, said, at } of history) {
    if (said.kind === "took") {
      if (epochs.has(said.epoch))
        wrong.push(`epoch ${said.epoch} was given to ${epochs.get(said.epoch)} and to ${name}`);
      epochs.set(said.epoch, name);
    }
    if (said.kind !== "lost") continue;
    // Whoever speaks keeps its lease: without a silence of its length it was taken from a living holder.
    const silence = longestSilence(
      history.filter((line) => line.name === name && line.at <= at),
      said.epoch,
    );
    if (silence < LEASE_MS / 2) wrong.push(`${name} lost its lease after ${silence.toFixed(0)} ms of silence at most`);
  }
  if (!acked.every(({ session }) => session === SHARED.leased)) wrong.push("an append went to another session");
  return wrong;
}

/** Between two lines of one process, since it asked for the lease of this epoch: it may be stopped before it can say that it has it. */
function longestSilence(lines: readonly Line[], epoch: number): number {
  const from = lines.findIndex(({ said }) => said.kind === "took" && said.epoch === epoch);
  const held = lines.slice(Math.max(from - 1, 0));
  return Math.max(0, ...held.slice(1).map((line, index) => line.at - (held[index]?.at ?? line.at)));
}
