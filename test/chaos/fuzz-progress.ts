/** How far a campaign has come, in a file: two million cases a format are hours, and nobody has them in one piece. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FORMAT_IDS, type FormatId } from "../../src/transcripts/format.ts";

export interface FuzzProgress {
  readonly seed: string;
  /** Digest of everything under test. Cases that ran on other code are counted, but apart. */
  readonly code: string;
  readonly done: Partial<Record<FormatId, number>>;
  readonly doneBefore: Partial<Record<FormatId, number>>;
  readonly violations: readonly string[];
}

/** Goes on where the file stopped. On changed code the cases begin anew, under another seed. */
export function readProgress(path: string | undefined, seed: string): FuzzProgress {
  const code = codeDigest();
  const kept =
    path !== undefined && existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as FuzzProgress) : undefined;
  if (kept === undefined) return { seed, code, done: {}, doneBefore: {}, violations: [] };
  if (kept.code === code) return kept;
  const doneBefore: Partial<Record<FormatId, number>> = {};
  for (const format of FORMAT_IDS) doneBefore[format] = (kept.doneBefore[format] ?? 0) + (kept.done[format] ?? 0);
  return { seed, code, done: {}, doneBefore, violations: [] };
}

export function writeProgress(path: string | undefined, progress: FuzzProgress): void {
  if (path === undefined) return;
  writeFileSync(`${path}.new`, `${JSON.stringify(progress, null, 2)}\n`);
  renameSync(`${path}.new`, path);
}

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));
const UNDER_TEST = ["base/text", "wire", "history", "transcripts"];

/** Of the code without its tests, in a fixed order. */
function codeDigest(): string {
  const digest = createHash("sha256");
  for (const room of UNDER_TEST) {
    const files = readdirSync(join(SRC, room), { recursive: true, encoding: "utf8" }).toSorted();
    for (const file of files) {
      if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
      digest.update(`${room}/${file}\n`).update(readFileSync(join(SRC, room, file)));
    }
  }
  return digest.digest("hex").slice(0, 16);
}
