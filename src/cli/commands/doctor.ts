import { usage } from "../options.ts";
import { realpathSync } from "node:fs";
import { HoldfastError } from "../../index.ts";
import type { Source } from "../../base/text/source.ts";
import { examine, type Examination, type ExamineOptions } from "../../transcripts/doctor.ts";
import { FORMAT_IDS } from "../../transcripts/format.ts";
import { PROFILE_IDS } from "../../transcripts/profiles.ts";
import type { CommandBody, Parsed, Terminal } from "../command.ts";
import { isSame, openFile, openStandardInput, type OpenedFile, statOf } from "../doctor/file-source.ts";
import { stayFrugal } from "../doctor/frugal.ts";
import { Progress } from "../doctor/progress.ts";
import { refuseBusy, replaceFile, type Verdict } from "../doctor/replace.ts";
import { describe, type FileReport, reportOf } from "../doctor/report.ts";
import { sarif, type Unread } from "../doctor/sarif.ts";
import { type Target, targetsOf } from "../doctor/targets.ts";
import { untilInterrupted } from "../interrupted.ts";
import { nearest } from "../../base/nearest.ts";
import { version } from "../version.ts";
import { wrapped } from "../wrap.ts";

export const doctor: CommandBody = {
  usage: "holdfast doctor FILE… [--format F] [--profile P] [--fix] [--json | --sarif]",
  examples: [
    "holdfast doctor session.jsonl                 what is wrong; nothing is written",
    "holdfast doctor session.jsonl --fix           repair it; the original stays beside it",
    "holdfast doctor ~/.claude/projects --json     a folder, one JSON object per line",
    "cat session.jsonl | holdfast doctor -",
  ],
  options: {
    format: { type: "string", help: `read it in this format: ${FORMAT_IDS.join(", ")}` },
    profile: { type: "string", help: `judge it by this provider's rules: ${PROFILE_IDS.join(", ")}` },
    fix: { type: "boolean", help: "repair it: write a backup beside the file, then replace the file" },
    sarif: { type: "boolean", help: "print one SARIF 2.1.0 log on standard output" },
  },
  async run(parsed, terminal) {
    const asked = askedFor(parsed);
    stayFrugal();
    const targets = targetsOf(parsed.positionals, terminal.cwd);
    const told = new Progress((line) => terminal.err(line), Date.now, targets.length);
    const seen = { reports: [] as FileReport[], unread: [] as Unread[] };
    await untilInterrupted(async () => {
      for (const target of targets) {
        await look(target, asked, terminal, { ...seen, told });
        told.next();
      }
    });
    if (asked.sarif) terminal.out(JSON.stringify(sarif(seen.reports, seen.unread, version())));
    else if (!asked.json && (targets.length !== 1 || targets[0]?.found === true))
      terminal.out(summary(seen.reports, seen.unread));
    if (seen.unread.length > 0) return 3;
    return seen.reports.some(({ findings, repaired }) => findings.length > 0 && !repaired) ? 1 : 0;
  },
};

interface Asked {
  readonly options: ExamineOptions;
  readonly fix: boolean;
  readonly json: boolean;
  readonly sarif: boolean;
}

function askedFor({ values, positionals }: Parsed): Asked {
  if (positionals.length === 0)
    throw usage("FILE", "name at least one file, folder or pattern, or - for standard input");
  const fix = values["fix"] === true;
  if (fix && positionals.includes("-"))
    throw usage("--fix", "standard input has no place to write to; save it to a file");
  if (values["json"] === true && values["sarif"] === true) throw usage("--sarif", "choose one of --json and --sarif");
  const format = oneOf("--format", values["format"], FORMAT_IDS);
  const profile = oneOf("--profile", values["profile"], PROFILE_IDS);
  return {
    options: { ...(format === undefined ? {} : { format }), ...(profile === undefined ? {} : { profile }) },
    fix,
    json: values["json"] === true,
    sarif: values["sarif"] === true,
  };
}

function oneOf<T extends string>(option: string, value: unknown, known: readonly T[]): T | undefined {
  if (typeof value !== "string") return undefined;
  const found = known.find((id) => id === value) ?? known.find((id) => id.startsWith(value));
  if (found !== undefined && value !== "") return found;
  const meant = nearest(value, known);
  throw usage(
    option,
    `there is no ${value}; ${meant === undefined ? `it is one of ${known.join(", ")}` : `did you mean ${meant}?`}`,
  );
}

interface Seen {
  readonly reports: FileReport[];
  readonly unread: Unread[];
  readonly told: Progress;
}

/** Looks at one file. Whatever is wrong with it, the next one is looked at, too. */
async function look(target: Target, asked: Asked, terminal: Terminal, seen: Seen): Promise<void> {
  try {
    const opened = target.path === "-" ? await openStandardInput(terminal.input()) : openFile(target.path);
    const examination = await understood(seen.told.watched(opened.source), asked.options);
    if ("unrecognised" in examination) {
      if (target.found) return;
      throw new HoldfastError("TRANSCRIPT_UNKNOWN", { file: target.name, why: examination.unrecognised });
    }
    const report = await repairIf(asked, target, opened, examination);
    seen.reports.push(report);
    if (asked.json) terminal.out(JSON.stringify(report));
    else if (!asked.sarif) {
      const lines = describe(report, examination.title, asked.fix);
      for (const line of lines.flatMap((one) => wrapped(one, terminal.columns))) terminal.out(line);
    }
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    seen.unread.push({ file: target.name, message: `${error.code}: ${error.message}` });
    const { code, message, tryThis, details } = error;
    const told = { code, message, try: tryThis };
    if (asked.json) terminal.out(JSON.stringify({ ok: false, file: target.name, ...told, details, error: told }));
    else {
      terminal.err(`${target.name}: ${code}: ${message}`);
      terminal.err(`try: ${tryThis}`);
    }
  }
}

/** A file in which nothing is of the format that was named is not clean: it was not understood. An empty one holds no other. */
async function understood(
  source: Source,
  options: ExamineOptions,
): Promise<Examination | { readonly unrecognised: string }> {
  const { format } = options;
  const named = await examine(source, options);
  if (format === undefined || "unrecognised" in named) return named;
  if (named.messages + named.calls + named.outputs + named.findings.length > 0) return named;
  const asItLooks = await examine(source);
  const looksLike = "unrecognised" in asItLooks ? asItLooks.unrecognised : asItLooks.format;
  if (looksLike === format || looksLike === "empty") return named;
  const hint = "unrecognised" in asItLooks ? "" : `; it looks like ${looksLike}`;
  return { unrecognised: `nothing in it is of ${format}${hint}` };
}

async function repairIf(asked: Asked, target: Target, opened: OpenedFile, found: Examination): Promise<FileReport> {
  const report = reportOf(target.name, found);
  if (!asked.fix || found.findings.length === 0 || opened.stat === undefined) return report;
  try {
    const path = realpathSync(target.path); // a link stays a link; the file it leads to is replaced
    const { stat } = opened;
    refuseBusy(target.path, stat, Date.now());
    if (!isSame(stat, statOf(path))) refuseBusy(target.path, statOf(path), Date.now());
    const backup = await replaceFile({
      path,
      stat,
      gzip: opened.gzip,
      bytes: found.repaired(),
      check: (made) => verdictOn(made, { ...asked.options, format: found.format }),
    });
    return { ...report, repaired: true, backup };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { ...report, refused: { code: error.code, message: error.message, try: error.tryThis } };
  }
}

/** The repaired file must be clean before it may take the place of the broken one. */
async function verdictOn(path: string, options: ExamineOptions): Promise<Verdict> {
  const again = await examine(openFile(path).source, options);
  if ("unrecognised" in again) return { wrong: "it would no longer be recognised" };
  const [first] = again.findings;
  if (first !== undefined) {
    return { wrong: `it would still hold ${first.code} at line ${first.line}`, better: again.repaired() };
  }
  const [refused] = again.refused();
  return refused === undefined ? { clean: true } : { wrong: `the provider would still refuse it: ${refused}` };
}

function summary(reports: readonly FileReport[], unread: readonly Unread[]): string {
  const broken = reports.filter(({ findings }) => findings.length > 0);
  const repaired = broken.filter((report) => report.repaired).length;
  const parts = [reports.length === 1 ? "1 session" : `${reports.length} sessions`, `${broken.length} with findings`];
  if (repaired > 0) parts.push(`${repaired} repaired`);
  if (unread.length > 0) parts.push(`${unread.length} unreadable`);
  return parts.join(", ");
}
