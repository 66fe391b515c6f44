/** `npm run chaos -- RIG [--seed S] [--seeds N] [--cases N] [--quick] [--json]` */
import { randomBytes } from "node:crypto";
import { codeDigest } from "./code-digest.ts";
import { RIGS } from "./rigs.ts";
import { Enough, type Rig, type RigOptions, Tally } from "./rig.ts";
import { cleanUp } from "./scratch.ts";
import { showTeeth } from "./teeth.ts";
import { describe } from "./workload.ts";

/** A rig that cannot run here says so, and nobody takes it for a pass: EX_TEMPFAIL. */
const SKIPPED = 75;

interface Outcome {
  readonly rig: string;
  readonly seed: string;
  readonly cases: number;
  readonly violations: readonly string[];
  readonly skipped: readonly string[];
  readonly seconds: number;
  readonly notes: Readonly<Record<string, number>>;
}

const USAGE = `npm run chaos -- RIG [--seed S] [--seeds N] [--cases N] [--quick] [--json]
npm run chaos -- all [--without RIGS] [--quick]

Attacks the embedded store and the loop above it, and audits what is left. Ends in "RIG: N cases, V violations".

  teeth         plants known bugs, one at a time, and demands that a rig turns red

rigs
${Object.entries(RIGS)
  .map(
    ([name, rig]) => `  ${name.padEnd(14)}${rig.about} (${rig.cases === 0 ? "all there are" : `${rig.cases} cases`})`,
  )
  .join("\n")}

options
  --seed S      what chance is drawn from; printed, so that a run can be repeated
  --seeds N     N runs, with the seeds S-1 to S-N
  --cases N     instead of the default
  --quick       a quarter of a minute of most rigs, as CI runs them
  --without RIGS  all of them but these; comma separated
  --until-red   stop at the first violation
  --json        one line of JSON per rig on stdout
  --minutes N   soak: go on for so long, also when all cases are done
  --fs NAME     power: ext4 (default), xfs or btrfs
  --control     power: a store without syncs, which must be seen to lose; a violation if the rig is blind
  --steps N     sim: steps of each seed
  --replay FILE sim: a scenario that was found and saved
  --state FILE  fuzz: keep count there, and go on from there
  --workers N   fuzz: threads, instead of one for each core
  --seconds N   fuzz: stop after this long
  --only NAMES  fuzz: formats; fault: driver, files, workspace, commands, syscalls, disk;
                kill: records, files, commands; flip: blob, wal, walcut, cut, swap, zero, near, db;
                syscall-kill: names of system calls; replay: every (each real transcript once);
                teeth: names of planted bugs; comma separated

exit codes      0 no violation, 1 violations, 64 not understood, 75 a rig could not run here and was skipped`;

const FLAGS = new Set(["quick", "json", "control", "help", "until-red"]);
const RIG_VALUES = ["fs", "only", "state", "workers", "seconds", "minutes", "steps", "replay"];
const VALUES = new Set(["seed", "seeds", "cases", "without", ...RIG_VALUES]);

function parse(argv: readonly string[]): { readonly rigs: readonly string[]; readonly options: Map<string, string> } {
  const rigs: string[] = [];
  const options = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? "";
    if (!word.startsWith("--")) {
      rigs.push(word);
      continue;
    }
    const [name = "", given] = word.slice(2).split("=", 2);
    if (FLAGS.has(name)) options.set(name, "true");
    else if (VALUES.has(name)) {
      const value = given ?? argv[(at += 1)];
      if (value === undefined) throw new TypeError(`--${name} needs a value`);
      options.set(name, value);
    } else throw new TypeError(`no option --${name}`);
  }
  return { rigs, options };
}

async function runRig(name: string, rig: Rig, options: RigOptions, argv: readonly string[]): Promise<Outcome> {
  const missing = rig.skip?.(options);
  const tally = new Tally(name, options, argv);
  process.stderr.write(`${name}: seed ${options.seed}\n`);
  if (missing !== undefined) tally.skipped.push(missing);
  else {
    const code = codeDigest([""]);
    try {
      await rig.run(tally, options);
      if (tally.cases === 0 && tally.skipped.length === 0) tally.violation("the rig itself", "it ran no case");
    } catch (error) {
      if (!(error instanceof Enough)) tally.violation("the rig itself", describe(error));
    }
    // Its processes read the code anew with every case: half of them ran another version, and met what the first one left.
    if (codeDigest([""]) !== code) tally.violation("the rig itself", "the code was changed while it ran");
  }
  const { cases, violations, skipped, seconds, notes } = tally;
  return { rig: name, seed: options.seed, cases, violations, skipped, seconds, notes };
}

function print(outcome: Outcome, json: boolean): void {
  const { rig, cases, violations, skipped, seconds, notes, seed } = outcome;
  if (json) {
    const short = { ...outcome, violations: violations.length, first: violations.slice(0, 5) };
    process.stdout.write(`${JSON.stringify(short)}\n`);
    return;
  }
  const figures = Object.entries(notes).map(([what, count]) => `${count} ${what}`);
  process.stderr.write(`${rig}: ${[...figures, `${seconds.toFixed(0)} s`, `seed ${seed}`].join(", ")}\n`);
  for (const why of skipped) process.stdout.write(`${rig}: skipped: ${why}\n`);
  if (cases > 0 || violations.length > 0)
    process.stdout.write(`${rig}: ${cases} cases, ${violations.length} violations\n`);
}

async function main(argv: readonly string[]): Promise<number> {
  const { rigs, options } = parse(argv);
  if (options.has("help") || rigs.length === 0) {
    process.stdout.write(`${USAGE}\n`);
    return rigs.length === 0 && !options.has("help") ? 64 : 0;
  }
  const quick = options.has("quick");
  if (rigs.includes("teeth")) return showTeeth(options.get("only")?.split(","), options.has("json"));
  const without = options.get("without")?.split(",") ?? [];
  const names = (rigs.includes("all") ? Object.keys(RIGS) : rigs).filter((name) => !without.includes(name));
  for (const name of [...rigs, ...without]) if (name !== "all") rigNamed(name);
  const seed = options.get("seed") ?? randomBytes(4).toString("hex");
  const seeds = countFrom(options, "seeds") ?? 1;
  const outcomes: Outcome[] = [];
  for (const name of names) {
    const rig = rigNamed(name);
    for (let nth = 1; nth <= seeds; nth += 1) {
      const cases = countFrom(options, "cases") ?? (quick ? rig.quickCases : rig.cases);
      const given: RigOptions = { seed: seeds === 1 ? seed : `${seed}-${nth}`, cases, quick, extra: options };
      const outcome = await runRig(name, rig, given, replayArgs(options));
      print(outcome, options.has("json"));
      outcomes.push(outcome);
    }
  }
  if (outcomes.some(({ violations }) => violations.length > 0)) return 1;
  return outcomes.some(({ skipped }) => skipped.length > 0) ? SKIPPED : 0;
}

function rigNamed(name: string): Rig {
  const rig = RIGS[name];
  if (rig === undefined) throw new TypeError(`no rig ${name}; there are ${Object.keys(RIGS).join(", ")}`);
  return rig;
}

function countFrom(options: ReadonlyMap<string, string>, name: string): number | undefined {
  const text = options.get(name);
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new TypeError(`--${name} must be a whole number from 1`);
  return count;
}

/** What to give again beside the seed. */
function replayArgs(options: ReadonlyMap<string, string>): readonly string[] {
  return [...options]
    .filter(([name]) => !["seed", "seeds", "json"].includes(name))
    .map(([name, value]) => (FLAGS.has(name) ? `--${name}` : `--${name} ${value}`));
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`chaos: ${error instanceof TypeError ? error.message : describe(error)}\n`);
  process.exitCode = 64;
} finally {
  cleanUp();
  process.exit(); // a case that never ends, which is what its rig has found, does not keep it from ending
}
