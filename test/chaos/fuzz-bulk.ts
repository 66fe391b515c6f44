/** Large sound and broken sessions of every format: time and memory must follow the size of the file. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { openFile } from "../../src/cli/doctor/file-source.ts";
import { examine } from "../../src/transcripts/doctor.ts";
import { FORMAT_IDS, type FormatId } from "../../src/transcripts/format.ts";
import { SAMPLES, type Step } from "../transcripts/samples.ts";

const MB = 1024 * 1024;
const SIZE = 12 * MB;

/** What one process measured about one file. */
interface Measured {
  readonly ms: number;
  readonly grew: number;
}

export function bulkViolations(): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bulk-"));
  try {
    return FORMAT_IDS.flatMap((format) => violationsOf(format, join(folder, format)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Three tries: when the collector runs, and what else the machine does, is nobody's violation. */
function violationsOf(format: FormatId, path: string): readonly string[] {
  writeFileSync(path, SAMPLES[format].write(script()));
  let wrong: readonly string[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    wrong = measuredOnce(format, path);
    if (wrong.length === 0) break;
  }
  rmSync(path);
  return wrong;
}

function measuredOnce(format: FormatId, path: string): readonly string[] {
  const { size } = statSync(path);
  const { stdout, status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path], { encoding: "utf8" });
  if (status !== 0) return [`bulk/${format}: ended with ${status}`];
  const { ms, grew } = JSON.parse(stdout) as Measured;
  const wrong: string[] = [];
  if (ms > (1000 * size) / MB) wrong.push(`bulk/${format}: took ${ms.toFixed(0)} ms for ${size} bytes`);
  if (grew > 4 * size + 64 * MB) wrong.push(`bulk/${format}: grew by ${grew} bytes for ${size} bytes`);
  return wrong;
}

/** Calls with results of a few kilobytes, every hundredth of them lost. */
function script(): readonly Step[] {
  const steps: Step[] = [{ say: "user", text: "begin" }];
  const text = "All work and no play makes Jack a dull boy. ".repeat(60);
  for (let nth = 0; nth * text.length < SIZE; nth += 1) {
    steps.push({ call: [{ id: `call_${nth}`, name: "bash" }], text: "so" });
    if (nth % 100 !== 99) steps.push({ output: `call_${nth}`, name: "bash", text });
  }
  return steps;
}

async function measure(path: string): Promise<Measured> {
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
