import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { run } from "./fuzz.ts";
import { bulkViolations } from "./fuzz-bulk.ts";
import type { Rig } from "./rig.ts";

/** Two minutes over all readers; without `--quick`, the figure for each of them. */
const QUICK_SECONDS = 120;

export const fuzz: Rig = {
  about: "wounds sessions of every format and has each read, judged and repaired",
  cases: 2_000_000,
  quickCases: 2_000_000,
  async run(tally, { seed, cases, quick, extra }) {
    const only = FORMAT_IDS.find((format) => format === extra.get("only"));
    for (const what of bulkViolations()) tally.violation("a large file", what);
    const limits = { ...(quick ? { seconds: QUICK_SECONDS } : {}), ...(only === undefined ? {} : { only }) };
    const outcome = await run({ seed, cases, ...limits });
    tally.cases = outcome.cases;
    for (const what of outcome.violations) tally.violation("a session", what);
  },
};
