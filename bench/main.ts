/** `npm run bench -- NAME [--quick] [--json] [--rounds N] [--case TEXT] [--seed S] [--sync MS]`: see README.md. */
import { parseArgs, styleText } from "node:util";
import { judge } from "./harness/bars.ts";
import { loadWorkload, workloadNames } from "./harness/load.ts";
import { narrowed } from "./harness/narrow.ts";
import { ensurePeers } from "./harness/peers.ts";
import { barLine, machine, tables } from "./harness/report.ts";
import { runWorkload } from "./harness/run.ts";
import { straceMissing } from "../test/chaos/strace.ts";

const USAGE = `usage: npm run bench -- NAME [--quick] [--json] [--rounds N] [--case TEXT] [--seed S] [--sync MS]
NAME is one of: ${workloadNames().join(", ")}`;

const { flags, name } = asked();
const say = (line: string) => console.error(styleText("dim", `bench: ${line}`, { stream: process.stderr }));

const syncMs = flags.sync === undefined ? undefined : Number(flags.sync);
if (syncMs !== undefined && (!(syncMs > 0) || straceMissing() !== undefined)) {
  console.error(`--sync takes milliseconds above 0, and needs strace: ${straceMissing() ?? "it is here"}`);
  process.exit(2);
}
ensurePeers(say);
const whole = await loadWorkload(name);
const workload = narrowed(whole, flags);
if (workload.cases.length === 0) {
  const names = whole.cases.map((one) => one.name).join(", ");
  console.error(`no case of ${name} has "${flags.case}" in it; there are: ${names}`);
  process.exit(2);
}
const before = machine();
if (before.load > before.cores / 2)
  say(`the machine is busy (load ${before.load.toFixed(1)}); trust ratios, not times`);
const rounds = flags.rounds === undefined ? undefined : Number(flags.rounds);
const results = await runWorkload(workload, { name, quick: flags.quick, rounds, seed: flags.seed, syncMs, say });
const verdicts = workload.bars.map((bar) => judge(bar, results));

if (flags.json) {
  const run = { name, quick: flags.quick, seed: flags.seed, syncMs, machine: before, loadAfter: machine().load };
  console.log(JSON.stringify({ ...run, bars: verdicts, samples: results.all }, null, 2));
} else {
  const { node, sqlite, cores, load } = before;
  const slower = syncMs === undefined ? "" : `, every sync ${syncMs} ms longer`;
  console.log(
    `${name}: ${workload.about}\nNode ${node}, SQLite ${sqlite}, ${cores} cores, load ${load.toFixed(1)}${slower}\n`,
  );
  console.log(`${tables(workload, results)}\n`);
  for (const verdict of verdicts) console.log(barLine(name, verdict));
}
process.exitCode = verdicts.every(({ ok }) => ok) ? 0 : 1;

function asked() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
        rounds: { type: "string" },
        case: { type: "string" },
        seed: { type: "string", default: "holdfast" },
        sync: { type: "string" },
      },
    });
    const [name] = positionals;
    if (values.help) {
      console.log(`${USAGE}\nWhat each option does, and what the workloads ask, is in bench/README.md.`);
      process.exit(0);
    }
    if (name !== undefined && workloadNames().includes(name)) return { flags: values, name };
    console.error(name === undefined ? USAGE : `there is no workload ${name}\n${USAGE}`);
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
  }
  return process.exit(2);
}
