/** How far a campaign has come, in a file: two million cases a format are hours, and nobody has them in one piece. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { FORMAT_IDS, type FormatId } from "../../src/transcripts/format.ts";
import { codeDigest } from "./code-digest.ts";

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
  const code = codeDigest(UNDER_TEST);
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

const UNDER_TEST = ["base/text", "wire", "history", "transcripts"];
