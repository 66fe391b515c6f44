import { availableParallelism } from "node:os";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { bulkViolations } from "./fuzz-bulk.ts";
import { campaign } from "./fuzz-campaign.ts";
import type { FuzzProgress } from "./fuzz-progress.ts";
import { partsFrom, type Rig } from "./rig.ts";

/** With some large files before it, half a minute over all readers; without `--quick`, the full count for each. */
const QUICK_SECONDS = 7;

export const fuzz: Rig = {
  about: "wounds sessions of every format and has each read, judged and repaired; cases count for each format",
  cases: 2_000_000,
  quickCases: 2_000_000,
  async run(tally, { seed, cases, quick, extra }) {
    const formats = partsFrom({ extra }, FORMAT_IDS);
    const state = extra.get("state");
    const seconds = extra.get("seconds") ?? (quick ? QUICK_SECONDS : undefined);
    for (const what of bulkViolations(quick, tally.random)) tally.violation("a large file", what);
    const progress = await campaign({
      seed,
      cases,
      workers: Number(extra.get("workers") ?? availableParallelism()),
      ...(seconds === undefined ? {} : { seconds: Number(seconds) }),
      formats,
      ...(state === undefined ? {} : { state }),
      say,
    });
    for (const format of FORMAT_IDS) {
      const done = progress.done[format] ?? 0;
      tally.cases += done;
      tally.count(format, done);
    }
    const before = Object.values(progress.doneBefore).reduce((sum, count) => sum + count, 0);
    if (before > 0) tally.count("on earlier code", before);
    for (const what of progress.violations) tally.violation("a session", what);
  },
};

let said = 0;

function say({ done, violations }: FuzzProgress): void {
  if (performance.now() - said < 10_000) return;
  said = performance.now();
  const counts = FORMAT_IDS.map((format) => done[format] ?? 0);
  const sum = counts.reduce((total, count) => total + count, 0);
  process.stderr.write(
    `fuzz: ${sum} cases, at least ${Math.min(...counts)} of each format, ${violations.length} violations\n`,
  );
}
