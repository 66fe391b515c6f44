import type { ProfileId } from "../wire/profiles.ts";
import type { Totals } from "./counts.ts";
import { type Finding, findingOf } from "./findings.ts";
import type { FormatId } from "./format.ts";
import { type Judgement, judgeConversation, refusals } from "./judge.ts";
import { LineIndex } from "./line-index.ts";
import { smallFile } from "./log-lines.ts";
import { type Changes, planChanges } from "./plan.ts";
import { readTranscript } from "./read.ts";
import { rewrite } from "./rewrite.ts";
import { type Touched, touchedLines } from "./touched.ts";
import type { Source } from "../base/text/source.ts";
import type { Element, Transcript, Unrecognised } from "./transcript.ts";

export interface ExamineOptions {
  readonly format?: FormatId;
  /** Judge by the rules of this provider instead of the format's own. */
  readonly profile?: ProfileId;
}

/** A file, read and judged. Nothing was written. */
export interface Examination extends Totals {
  readonly format: FormatId;
  readonly title: string;
  readonly profile: ProfileId;
  readonly conversations: number;
  /** Everything that is wrong, by line. */
  readonly findings: readonly Finding[];
  /** Rules that the provider would still find broken after the repair, as `WIRE-n`. */
  readonly refused: () => readonly string[];
  /** Every line that the repair touches. All others keep their bytes. */
  readonly changes: () => readonly Touched[];
  /** The repaired bytes; the file's own where nothing was wrong. */
  readonly repaired: () => AsyncIterable<Uint8Array>;
}

/** Reads and judges one file, and knows how to repair it. */
export async function examine(file: Source, options: ExamineOptions = {}): Promise<Examination | Unrecognised> {
  const source = await smallFile(file);
  const transcript = await readTranscript(source, options);
  if ("unrecognised" in transcript) return transcript;
  const { format, totals } = transcript;
  const profile = options.profile ?? format.profile;
  const lines = transcript.text === undefined ? undefined : new LineIndex(transcript.text);
  const lineOf = (element: Element) => lines?.lineOf(element) ?? element.line;
  const judgements = transcript.conversations.map((_, nth) => judgeConversation(transcript, nth, { profile, lineOf }));
  const findings = [...lineFindings(transcript, profile), ...judgements.flatMap((one) => one.findings)];
  const plan = planOnce(transcript, findings.length === 0 ? [] : judgements);
  return {
    format: format.id,
    title: format.title,
    profile,
    conversations: transcript.conversations.length,
    ...totals,
    findings: findings.toSorted((one, other) => one.line - other.line),
    refused: () => {
      const faults = judgements.flatMap((judgement) => refusals(judgement, profile));
      return faults.map(({ rule, detail }) => `${rule}: ${detail}`);
    },
    changes: () => touchedLines(transcript, plan(), lineOf),
    repaired: () => (findings.length === 0 ? source.chunks() : rewrite(source, transcript, plan())),
  };
}

function lineFindings({ flawed }: Transcript, profile: ProfileId): readonly Finding[] {
  return flawed.flatMap(({ line, flaws }) => flaws.map((flaw) => findingOf(flaw, profile, { line })));
}

/** Plans once: the plan hangs the records of a log anew, and doing that twice would hang them wrong. */
function planOnce({ format }: Transcript, judgements: readonly Judgement[]): () => readonly Changes[] {
  let changes: readonly Changes[] | undefined;
  return () => {
    changes ??= judgements.map((judgement) => planChanges(judgement, format));
    return changes;
  };
}
