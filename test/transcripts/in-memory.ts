import { examine, type Examination, type ExamineOptions } from "../../src/transcripts/doctor.ts";
import { bytesSource, joined } from "../../src/base/text/source.ts";

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Examines bytes; a test that expects a session fails loudly when there is none. */
export async function examined(file: string | Uint8Array, options: ExamineOptions = {}): Promise<Examination> {
  const found = await examine(bytesSource("sample", typeof file === "string" ? bytesOf(file) : file), options);
  if ("unrecognised" in found) throw new Error(`not recognised: ${found.unrecognised}`);
  return found;
}

export async function repaired(examination: Examination): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of examination.repaired()) chunks.push(chunk);
  return joined(chunks);
}

export async function repairedText(file: string | Uint8Array): Promise<string> {
  return new TextDecoder().decode(await repaired(await examined(file)));
}

export function codesOf({ findings }: Examination): readonly string[] {
  return findings.map(({ code }) => code);
}

/** Lines that the report did not name and that the repaired log does not hold in the same order. */
export function lostLines(before: string, after: string, found: Examination): readonly string[] {
  const touched = found.changes().filter(({ does }) => does !== "adds-after");
  const named = new Set(touched.map(({ line }) => line));
  const kept = before.split("\n").filter((line, nth) => line !== "" && !named.has(nth + 1));
  const left = after.split("\n");
  let at = -1;
  return kept.filter((line) => {
    const next = left.indexOf(line, at + 1);
    if (next !== -1) at = next;
    return next === -1;
  });
}
