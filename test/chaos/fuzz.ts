/**
 * Mutation fuzzing of every session reader: `node test/chaos/fuzz.ts [--seed S] [--cases N] [--seconds N] [--only FORMAT]`.
 * A case is a sample, wounded a few times, that must not crash, hang, change a prototype or be accepted and then come
 * out of the repair unreadable; and large files must cost time and memory by their size. Ends in "fuzz: N cases, V violations".
 */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { SeededRandom } from "../../src/base/random.ts";
import { type Examination, type ExamineOptions, examine } from "../../src/transcripts/doctor.ts";
import { FORMAT_IDS, type FormatId } from "../../src/transcripts/format.ts";
import { bytesSource, joined } from "../../src/base/text/source.ts";
import { bulkViolations } from "./fuzz-bulk.ts";
import { sampleOf, wounded } from "./fuzz-wounds.ts";

export interface FuzzOptions {
  readonly seed: string;
  /** For each format. The figure is two million. */
  readonly cases: number;
  /** Stop after this long, whatever was done. */
  readonly seconds?: number;
  readonly only?: FormatId;
}

export interface FuzzOutcome {
  readonly cases: number;
  readonly violations: readonly string[];
}

/** What a case may take: a second for each megabyte, and never less than a pause of the collector. */
const PAUSE_MS = 250;
const MB = 1024 * 1024;

export async function run({ seed, cases, seconds = Infinity, only }: FuzzOptions): Promise<FuzzOutcome> {
  const violations: string[] = [];
  const started = performance.now();
  const formats = only === undefined ? FORMAT_IDS : [only];
  const born = prototypeKeys();
  let done = 0;
  let said = started;
  for (let nth = 0; nth < cases; nth += 1) {
    for (const format of formats) {
      const label = `${seed}/${format}/${nth}`;
      const random = new SeededRandom(label);
      const file = wounded(sampleOf(format, random), random);
      const options = random.fraction() < 0.2 ? { format } : {};
      let wrong = await caseOf(file, options);
      // Slow twice is slow; once is a machine that had something else to do.
      if (wrong.some(isSlow)) wrong = await caseOf(file, options);
      if (prototypeKeys() !== born) wrong.push("a prototype changed");
      for (const what of wrong) {
        violations.push(`${label}: ${what}`);
        if (violations.length <= 20) process.stderr.write(`fuzz: VIOLATION in ${label}: ${what}\n`);
      }
      done += 1;
    }
    const now = performance.now();
    if (now - started > seconds * 1000 || violations.length > 100) break;
    if (now - said < 5_000) continue;
    said = now;
    process.stderr.write(
      `fuzz: ${done} cases, ${violations.length} violations, ${((now - started) / 1000).toFixed(0)} s\n`,
    );
  }
  return { cases: done, violations };
}

/** One wounded file: read, judged, repaired, read again. */
async function caseOf(file: Uint8Array, options: ExamineOptions): Promise<string[]> {
  const wrong: string[] = [];
  const started = performance.now();
  try {
    const found = await examine(bytesSource("fuzz", file), options);
    if (!("unrecognised" in found)) {
      const after = await bytesOf(found);
      if (found.findings.length === 0 && !isEqual(after, file)) wrong.push("a sound file came back changed");
      const [refused] = found.refused();
      if (refused !== undefined) wrong.push(`the repair would be refused: ${refused}`);
      wrong.push(...(await settled(after, found.format)));
    }
  } catch (error) {
    wrong.push(`threw ${String((error as Error).stack ?? error).slice(0, 400)}`);
  }
  const took = performance.now() - started;
  if (took > PAUSE_MS + (1000 * file.length) / MB) wrong.push(`took ${took.toFixed(0)} ms for ${file.length} bytes`);
  return wrong;
}

/** A repair may lay open what damage hid; after three rounds, as many as the command takes, nothing may be left. */
async function settled(repaired: Uint8Array, format: FormatId): Promise<readonly string[]> {
  let bytes = repaired;
  for (let round = 1; ; round += 1) {
    const again = await examine(bytesSource("fuzz", bytes), { format });
    if ("unrecognised" in again) return [`accepted, then unreadable: ${again.unrecognised}`];
    if (again.findings.length === 0) return [];
    const left = again.findings.map(({ code, line }) => `${code} at ${line}`);
    if (round === 3) return [`still broken after the repair: ${left.slice(0, 3).join(", ")}`];
    bytes = await bytesOf(again);
  }
}

async function bytesOf({ repaired }: Examination): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of repaired()) chunks.push(chunk);
  return joined(chunks);
}

function isSlow(what: string): boolean {
  return what.startsWith("took ");
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

/** Everything that hangs on the prototypes that JSON values have. */
function prototypeKeys(): string {
  const all = [Object.prototype, Array.prototype, String.prototype, Number.prototype, Function.prototype];
  return all.map((prototype) => Object.getOwnPropertyNames(prototype).length).join(" ");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      cases: { type: "string", default: "2000000" },
      seconds: { type: "string" },
      only: { type: "string" },
      quick: { type: "boolean" },
    },
  });
  const only = FORMAT_IDS.find((format) => format === values.only);
  const seconds = values.seconds ?? (values.quick === true ? "60" : undefined);
  const bulk = bulkViolations();
  for (const what of bulk) process.stderr.write(`fuzz: VIOLATION in ${what}\n`);
  const { cases, violations } = await run({
    seed: values.seed,
    cases: Number(values.cases),
    ...(seconds === undefined ? {} : { seconds: Number(seconds) }),
    ...(only === undefined ? {} : { only }),
  });
  const all = violations.length + bulk.length;
  process.stdout.write(`fuzz: ${cases} cases, ${all} violations\n`);
  process.exitCode = all === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
