/** Large files of every format, and files made to cost more than they weigh: time and memory must follow the size. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SeededRandom } from "../../src/base/random.ts";
import { openFile } from "../../src/cli/doctor/file-source.ts";
import { stayFrugal } from "../../src/cli/doctor/frugal.ts";
import { examine } from "../../src/transcripts/doctor.ts";
import { FORMAT_IDS } from "../../src/transcripts/format.ts";
import { SAMPLES, type Step } from "../transcripts/samples.ts";
import { SHAPE_RECORDS, SHAPES } from "./fuzz-shapes.ts";

const MB = 1024 * 1024;
const SIZE = 12 * MB;
const QUICK_SIZE = 3 * MB;
/** What one fault may hold beside the bound: its report, its repair, its place in the tree. */
const FAULT = 10 * 1024;
/** What one fault may cost beside the bound: a line of three bytes that is no JSON throws as dearly as a long one. */
const FAULT_MS = 0.01;

/** What one process measured about one file. */
interface Measured {
  /** Of the processor: a machine that had something else to do is nobody's violation. */
  readonly ms: number;
  readonly grew: number;
}

/** Quickly: smaller sessions, and of the hostile shapes one in four, which chance picks. */
export function bulkViolations(quick: boolean, random: SeededRandom): readonly string[] {
  const first = random.below(4);
  const shapes = Object.entries(SHAPES).filter((_, nth) => !quick || nth % 4 === first);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bulk-"));
  const path = join(folder, "file");
  try {
    const sessions = FORMAT_IDS.flatMap((format) => {
      writeFileSync(path, SAMPLES[format].write(script(quick ? QUICK_SIZE : SIZE)));
      return violationsOf(format, path, 0);
    });
    const hostile = shapes.flatMap(([shape, write]) => {
      writeFileSync(path, write());
      return violationsOf(shape, path, SHAPE_RECORDS);
    });
    return [...sessions, ...hostile];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function violationsOf(name: string, path: string, faults: number): readonly string[] {
  const { size } = statSync(path);
  const { stdout, stderr, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path], {
    encoding: "utf8",
    timeout: 120_000,
  });
  if (status !== 0) return [`bulk/${name}: ended with ${status}: ${stderr.slice(0, 300)}`];
  const { ms, grew } = JSON.parse(stdout) as Measured;
  const wrong: string[] = [];
  if (ms > (1000 * size) / MB + faults * FAULT_MS)
    wrong.push(`bulk/${name}: took ${ms.toFixed(0)} ms for ${size} bytes`);
  if (grew > 4 * size + 64 * MB + faults * FAULT) wrong.push(`bulk/${name}: grew by ${grew} bytes for ${size} bytes`);
  return wrong;
}

/** Calls with results of a few kilobytes, every hundredth of them lost. */
function script(size: number): readonly Step[] {
  const steps: Step[] = [{ say: "user", text: "begin" }];
  const text = "All work and no play makes Jack a dull boy. ".repeat(60);
  for (let nth = 0; nth * text.length < size; nth += 1) {
    steps.push({ call: [{ id: `call_${nth}`, name: "bash" }], text: "so" });
    if (nth % 100 !== 99) steps.push({ output: `call_${nth}`, name: "bash", text });
  }
  return steps;
}

async function measure(path: string): Promise<Measured> {
  stayFrugal(); // as the command does
  const before = process.resourceUsage().maxRSS * 1024;
  const started = process.cpuUsage();
  const found = await examine(openFile(path).source);
  if (!("unrecognised" in found)) for await (const chunk of found.repaired()) chunk.at(0);
  const { user, system } = process.cpuUsage(started);
  return { ms: (user + system) / 1000, grew: process.resourceUsage().maxRSS * 1024 - before };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.stdout.write(JSON.stringify(await measure(process.argv[2] ?? "")));
}
