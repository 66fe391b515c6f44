import type { Counts } from "../../transcripts/counts.ts";
import type { Examination } from "../../transcripts/doctor.ts";
import type { Finding } from "../../transcripts/findings.ts";
import type { Touched } from "../../transcripts/touched.ts";

/** One file's verdict, as `--json` prints it. */
export interface FileReport {
  readonly file: string;
  readonly format: string;
  readonly profile: string;
  readonly conversations: number;
  readonly messages: number;
  readonly calls: number;
  readonly outputs: number;
  readonly counts: Counts;
  readonly findings: readonly Finding[];
  /** Every line that the repair touches. */
  readonly changes: readonly Touched[];
  readonly repaired: boolean;
  readonly backup?: string;
  /** Why a repair that was asked for did not happen. */
  readonly refused?: { readonly code: string; readonly message: string; readonly try: string };
}

export function reportOf(file: string, examination: Examination): FileReport {
  const { format, profile, conversations, messages, calls, outputs, counts, findings } = examination;
  const changes = examination.changes();
  return { file, format, profile, conversations, messages, calls, outputs, counts, findings, changes, repaired: false };
}

/** How many findings of one kind are shown to people one by one. */
const SHOWN = 5;

/** A verdict in words: the file, then what is wrong with it, each kind once with what would be done about it. */
export function describe(report: FileReport, title: string, fix: boolean): readonly string[] {
  const { file, findings, conversations, messages, calls, outputs } = report;
  const held = `${many(conversations, "conversation")}, ${many(messages, "message")}, ${many(calls, "call")}, ${many(outputs, "output")}`;
  const lines = [`${file}: ${title}, ${held}`];
  if (findings.length === 0) return [...lines, "  clean"];
  for (const [code, same] of byCode(findings)) lines.push(...describeKind(code, same));
  const lossless = findings.every((finding) => finding.lossless);
  if (report.repaired) lines.push(`  repaired; the original is ${report.backup}`);
  else if (report.refused !== undefined)
    lines.push(`  ${report.refused.code}: ${report.refused.message}`, `  try: ${report.refused.try}`);
  else if (!fix) {
    const cost = lossless ? "nothing is lost" : "what is removed stays in the backup";
    lines.push(`  ${many(findings.length, "finding")}; repair with --fix (${cost}). Nothing was written.`);
  }
  return lines;
}

function describeKind(code: string, same: readonly Finding[]): readonly string[] {
  const [first] = same as [Finding];
  const shown = same.slice(0, SHOWN).map((finding) => `    line ${finding.line}${namesOf(finding)}`);
  const more = same.length > SHOWN ? [`    and ${same.length - SHOWN} more`] : [];
  return [
    `  ${first.severity} ${code}: ${first.message}${same.length > 1 ? ` (${same.length} times)` : ""}`,
    ...shown,
    ...more,
    `    why: ${first.why}`,
    `    repair: ${first.repair} (${first.lossless ? "lossless" : "not lossless"})`,
  ];
}

function namesOf({ tool, call, conversation }: Finding): string {
  const names = [tool, call, conversation === undefined || conversation === 1 ? undefined : `#${conversation}`];
  const told = names.filter((name) => name !== undefined).map(printable);
  return told.length === 0 ? "" : `: ${told.join(" ")}`;
}

/** Ids come from strangers' files: control characters in them must not reach a terminal. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- exactly these are taken out
  const plain = text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, "?");
  return plain.length > 80 ? `${plain.slice(0, 77)}...` : plain;
}

function byCode(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  return Map.groupBy(findings, ({ code }) => code);
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
