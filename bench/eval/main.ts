/** `npm run eval -- pages [--json]`: the kernel on the ground of the ClawVM paper, and on real transcripts. */
import { type Evaluation, evaluatePages } from "./pages.ts";
import { BUDGETS, FAMILIES } from "./workload.ts";

/** What the paper counts, mean over its families and budgets: faults, thrash. */
const PAPER: Readonly<Record<string, string>> = {
  retrieval: "67.8 / 3.993",
  "retrieval + cache": "10.8 / 1.642",
  "compaction hybrid": "1.5 / 1.017",
  Holdfast: "0 / 0.901",
  "oracle, three turns ahead": "0 / 0.901",
};

const [what, ...flags] = process.argv.slice(2);
if (what !== "pages" || flags.some((flag) => flag !== "--json")) {
  console.error(
    "npm run eval -- pages [--json]\n\nHOLDFAST_CORPUS names a folder of real transcripts, to replay them too.",
  );
  process.exit(2);
}
const evaluation = await evaluatePages((doing) => process.stderr.write(`${doing} …\n`));
if (flags.includes("--json")) console.log(JSON.stringify(evaluation, null, 1));
else print(evaluation);
process.exitCode = holds(evaluation) ? 0 : 1;

function print({ policies, ablations, gates, adversarial, corpus }: Evaluation): void {
  console.log("Mean faults and thrash over four families and six budgets; in the paper\n");
  for (const { name, faults, thrash } of policies)
    line([name, `${faults.toFixed(1)} / ${thrash.toFixed(3)}`, PAPER[name] ?? ""]);
  console.log(`\nFaults by family and budget (${BUDGETS.join(", ")})\n`);
  for (const { name, cells } of policies)
    for (const family of FAMILIES)
      line([
        name,
        family,
        cells
          .filter((cell) => cell.family === family)
          .map(({ faults }) => faults)
          .join("  "),
      ]);
  console.log("\nOne thing taken away, budget 180, sum over the families; in the paper\n");
  for (const { name, faults, paper } of ablations) line([name, String(faults), String(paper)]);
  console.log("\nGates\n");
  for (const { name, passed, seen } of [...gates, ...adversarial]) line([name, passed ? "passed" : "FAILED", seen]);
  if (corpus.length === 0) return;
  console.log("\nReal sessions at shares of their size: calls made before, and where their answer was\n");
  line(["share", "repeats", "readable / by handle / lost; lost by a window"]);
  for (const { share, sessions, requests, refused, refusedForNothing, ...row } of corpus) {
    const { repeats, readable, byHandle, lost, lostByWindow } = row;
    line([
      `${share * 100} % of ${sessions} sessions`,
      `${repeats} in ${requests} requests, ${refused} refused (${refusedForNothing} for nothing)`,
      `${readable} / ${byHandle} / ${lost}; ${lostByWindow}`,
    ]);
  }
}

function holds({ policies, gates, adversarial, corpus }: Evaluation): boolean {
  const ours = policies.filter(({ name }) => name === "Holdfast" || name.startsWith("oracle"));
  return (
    ours.every(({ faults }) => faults === 0) &&
    [...gates, ...adversarial].every(({ passed }) => passed) &&
    corpus.every(({ lost, refusedForNothing }) => lost === 0 && refusedForNothing === 0)
  );
}

function line(cells: readonly string[]): void {
  console.log(cells.map((cell, at) => (at < cells.length - 1 ? cell.padEnd(at === 0 ? 48 : 52) : cell)).join(""));
}
