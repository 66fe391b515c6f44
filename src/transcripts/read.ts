import { sumTotals } from "./counts.ts";
import { type Detected, detectDocument, detectLines } from "./detect.ts";
import { readDocument } from "./document.ts";
import type { Format, FormatId } from "./format.ts";
import { FORMATS } from "./formats.ts";
import { type Head, headOf } from "./head.ts";
import { isStrict, type LogLine, logLines } from "./records.ts";
import { isFields } from "./skeleton.ts";
import type { Source } from "../base/text/source.ts";
import { countStrict, type Place, threadsIn, threadsOf } from "./threads.ts";
import type { Conversation, Element, FlawedLine, Transcript, Unrecognised } from "./transcript.ts";

export interface ReadOptions {
  /** Read it as this, instead of finding out. */
  readonly format?: FormatId;
}

/** Reads a file once, from front to back, holding one line at a time where the format has lines. */
export async function readTranscript(source: Source, options: ReadOptions = {}): Promise<Transcript | Unrecognised> {
  const head = await headOf(source);
  const lines = asLines(head, options.format);
  if (lines === undefined) return readDocument(source, head, options.format);
  return readLines(source, lines, options.format !== undefined);
}

/** Lines of records, or nothing when the file is one document. */
function asLines(head: Head, only: FormatId | undefined): Detected | undefined {
  if (head.opens || !(head.sound || isGlued(head) || isNamedLog(head, only))) return undefined;
  if (!head.several && detectDocument(head.records[0], only) !== undefined) return undefined;
  return detectLines(head, only);
}

/** One line of several records: a log whose newlines were lost. */
function isGlued({ records, several }: Head): boolean {
  return !several && records.length > 1;
}

/** The user says that it is a log, and it has lines that can be read, though damage left no record whole in its head. */
function isNamedLog({ records, several }: Head, only: FormatId | undefined): boolean {
  return several && records.length > 0 && only !== undefined && FORMATS[only].isRecord !== undefined;
}

async function readLines(source: Source, { format, layout }: Detected, named: boolean): Promise<Transcript> {
  const flawed: FlawedLine[] = [];
  const log = new LogReader(format);
  const conversations: Conversation[] = [];
  let record = 0;
  let badLines = 0;
  let gluedLines = 0;
  let last: LogLine | undefined;
  for await (const line of logLines(source)) {
    const strict = isStrict(line);
    const empty = line.records.length === 0 && line.fragments.length === 0 && line.flaws.length === 0;
    if (!empty) last = line;
    if (!strict) badLines += 1;
    if (!strict && line.flaws.includes("glued-records") && line.fragments.length === 0) gluedLines += 1;
    if (line.flaws.length > 0) {
      flawed.push({ line: line.line.number, flaws: line.flaws, fragments: line.fragments.length });
    }
    for (const text of line.records) {
      const value = line.value === undefined ? (JSON.parse(text) as unknown) : line.value;
      const place = { record, line: line.line.number, strict };
      if (layout === "log") log.take(value, place);
      else conversations.push(...threadsOf(format, value, place, named ? threadsIn(format, value) : undefined));
      record += 1;
    }
  }
  if (layout === "log") conversations.push(log.conversation());
  return {
    format,
    layout,
    conversations,
    flawed: withTornEnd(flawed, last),
    totals: sumTotals(conversations.map(countStrict), { badLines, gluedLines }),
    records: record,
  };
}

/** The last line, cut, is a write that a crash interrupted; any other line is damage. */
function withTornEnd(flawed: readonly FlawedLine[], last: LogLine | undefined): readonly FlawedLine[] {
  return flawed.map((line) => {
    if (line.line !== last?.line.number || !line.flaws.includes("bad-line")) return line;
    return { ...line, flaws: line.flaws.map((flaw) => (flaw === "bad-line" ? "torn-line" : flaw)) };
  });
}

/** Takes the records of a log one by one. */
class LogReader {
  readonly #elements: Element[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #read: ReturnType<Format["reader"]>;
  #count = 0;

  constructor(format: Format) {
    this.#read = format.reader();
  }

  take(value: unknown, place: Place): void {
    const reading = isFields(value) ? this.#read(value, this.#count++) : undefined;
    if (reading === undefined) return;
    const { replaces } = reading;
    const before = replaces === undefined ? undefined : this.#byKey.get(replaces);
    if (before !== undefined) {
      const old = this.#elements[before] as Element;
      this.#elements[before] = { ...old, reading: { message: false, pieces: [] } };
    }
    if (replaces !== undefined) this.#byKey.set(replaces, this.#elements.length);
    this.#elements.push({ ...place, path: [], open: false, reading });
  }

  conversation(): Conversation {
    const whole = new Set<string>();
    for (const { strict, reading } of this.#elements) if (strict && reading.id !== undefined) whole.add(reading.id);
    return { elements: this.#elements.map((element) => (isAgain(element, whole) ? again(element) : element)) };
  }
}

function isAgain({ strict, reading }: Element, whole: ReadonlySet<string>): boolean {
  return !strict && reading.id !== undefined && whole.has(reading.id);
}

function again(element: Element): Element {
  return { ...element, again: true, reading: { message: false, pieces: [] } };
}
