import type { Json, JsonObject } from "../base/json.ts";
import { parseJson } from "../base/json.ts";
import type { CallItem, OutputItem } from "../wire/item.ts";
import { grouped, head, sizeWords } from "./compress/cut.ts";
import { looksLikeCall } from "./compress/weigh.ts";

/** What is known of a tool's output without reading it: typed fields, in the order they are told. */
export interface EvidenceFacts {
  readonly tool: string;
  readonly status: string;
  readonly exitCode?: number;
  /** The arguments that say what it was about: paths, commands, patterns. */
  readonly about: readonly string[];
  readonly errorLine?: string;
  readonly lines: number;
  readonly bytes: number;
}

const TELLING =
  /^(path|file_?path|file|filename|notebook_path|dir|directory|cwd|command|cmd|pattern|query|url|name|symbol)$/i;
const EXIT = /\b(?:exit(?:ed)?(?: with)?(?: code| status)?|exit_code|returncode)["']?[:= ]+(-?\d{1,3})\b/i;
const ERROR_LINE = /(error|exception)\b|\b(failed|failure|panic|fatal|denied|not found|cannot)\b/i;
const LONGEST_FACT = 120;

export function evidenceFacts(output: OutputItem, call: CallItem | undefined, text: string): EvidenceFacts {
  const exit = EXIT.exec(text.length > 4_000 ? `${text.slice(0, 2_000)}\n${text.slice(-2_000)}` : text)?.[1];
  const failed = output.status !== "success" || (exit !== undefined && exit !== "0");
  const errorLine = failed ? firstLine(text, ERROR_LINE) : undefined;
  return {
    tool: call?.name ?? output.name ?? "tool",
    status: output.status,
    ...(exit === undefined ? {} : { exitCode: Number(exit) }),
    about: call === undefined ? [] : aboutOf(call),
    ...(errorLine === undefined ? {} : { errorLine }),
    lines: text === "" ? 0 : text.split("\n").length,
    bytes: Buffer.byteLength(text),
  };
}

/** `read_file src/a.ts · success · 812 lines, 31.2 KB` */
export function factsLine({ tool, status, exitCode, about, errorLine, lines, bytes }: EvidenceFacts): string {
  return [
    [tool, ...about].join(" "),
    exitCode === undefined ? status : `${status}, exit code ${exitCode}`,
    `${grouped(lines)} ${lines === 1 ? "line" : "lines"}, ${sizeWords(bytes)}`,
    ...(errorLine === undefined ? [] : [errorLine]),
  ].join(" · ");
}

/** The short arguments of a call that say what it was about. */
export function aboutOf(call: CallItem): readonly string[] {
  const input = inputOf(call);
  if (typeof input === "string") return [oneLine(input)];
  return tellingOf(call)
    .map(([, value]) => oneLine(typeof value === "string" ? value : (value as readonly Json[]).map(String).join(" ")))
    .filter((fact) => !looksLikeCall(fact))
    .slice(0, 3);
}

/** The arguments of a call that name what it is about, as they are; none when it has no such names. */
export function tellingOf(call: CallItem): readonly (readonly [name: string, value: Json])[] {
  const input = inputOf(call);
  if (input === undefined || input === null || typeof input !== "object" || Array.isArray(input)) return [];
  return Object.entries(input as JsonObject).filter(
    (one): one is [string, Json] => TELLING.test(one[0]) && (typeof one[1] === "string" || Array.isArray(one[1])),
  );
}

/** The arguments as a value, also where the format keeps them as text. */
export function inputOf({ input, inputText }: CallItem): Json | undefined {
  if (input !== undefined || inputText === undefined) return input;
  const parsed = parseJson(inputText);
  return parsed.ok ? parsed.value : inputText;
}

function firstLine(text: string, sign: RegExp): string | undefined {
  const sample = text.length > 200_000 ? text.slice(-200_000) : text;
  const line = sample.split("\n").find((one) => sign.test(one) && !looksLikeCall(one));
  return line === undefined ? undefined : oneLine(line);
}

export function oneLine(text: string): string {
  return head(text.replace(/\s+/g, " ").trim().toWellFormed(), LONGEST_FACT);
}
