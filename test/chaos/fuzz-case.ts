/** One fuzz case: a sample of a format, wounded a few times, and everything that must be true of what becomes of it. */
import { Buffer } from "node:buffer";
import { bytesSource, joined } from "../../src/base/text/source.ts";
import { type Examination, type ExamineOptions, examine } from "../../src/transcripts/doctor.ts";
import type { FormatId } from "../../src/transcripts/format.ts";
import { CaseRandom } from "./fuzz-random.ts";
import { sampleOf, wounded } from "./fuzz-wounds.ts";

/** What is under test. Rigs of rigs give one with a planted bug. */
export type Examine = typeof examine;

/** What a case may take: a second for each megabyte, and never less than a pause of the collector. */
const PAUSE_MS = 250;
const MB = 1024 * 1024;

/** Everything that is wrong with the case of this name. The same name gives the same bytes, always. */
export async function fuzzCase(label: string, format: FormatId, under: Examine = examine): Promise<readonly string[]> {
  const random = new CaseRandom(label);
  const file = wounded(sampleOf(format, random), random);
  const options = random.fraction() < 0.2 ? { format } : {};
  const strict = random.fraction() < 0.25;
  const wrong = await judged(file, options, { under, strict });
  // Slow twice is slow; once is a collector that had much to do.
  return wrong.some(isSlow) ? judged(file, options, { under, strict }) : wrong;
}

interface Rules {
  readonly under: Examine;
  /** Ask the provider's strict judge, too: it costs as much as all the rest. */
  readonly strict: boolean;
}

/** One wounded file: read, judged, repaired, read again. */
async function judged(file: Uint8Array, options: ExamineOptions, { under, strict }: Rules): Promise<string[]> {
  const wrong: string[] = [];
  const started = cpuMs();
  try {
    const found = await under(bytesSource("fuzz", file), options);
    if (!("unrecognised" in found)) {
      const after = await bytesOf(found);
      if (found.findings.length === 0 && !isEqual(after, file)) wrong.push("a sound file came back changed");
      const refused = strict ? found.refused()[0] : undefined;
      if (refused !== undefined) wrong.push(`the repair would be refused: ${refused}`);
      wrong.push(...(await settled(after, found.format, under)));
    }
  } catch (error) {
    wrong.push(`threw ${String((error as Error).stack ?? error).slice(0, 600)}`);
  }
  const took = cpuMs() - started;
  if (took > PAUSE_MS + (1000 * file.length) / MB) wrong.push(`took ${took.toFixed(0)} ms for ${file.length} bytes`);
  return wrong;
}

/** A repair may lay open what damage hid; after three rounds, as many as the command takes, nothing may be left. */
async function settled(repaired: Uint8Array, format: FormatId, under: Examine): Promise<readonly string[]> {
  let bytes = repaired;
  for (let round = 1; ; round += 1) {
    const again = await under(bytesSource("fuzz", bytes), { format });
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

/** The time this thread worked. A machine that had something else to do is nobody's violation. */
function cpuMs(): number {
  if (process.threadCpuUsage === undefined) return performance.now(); // before Node 23.9
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Everything that hangs on the prototypes that JSON values have. */
export function prototypeKeys(): string {
  const all: readonly object[] = [
    Object.prototype,
    Array.prototype,
    String.prototype,
    Number.prototype,
    Function.prototype,
  ];
  return all.map((prototype) => Reflect.ownKeys(prototype).length).join(" ");
}
