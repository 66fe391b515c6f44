import { sumTotals } from "./counts.ts";
import { type Detected, detectDocument, detectLines } from "./detect.ts";
import { isOneDocument, readDocument } from "./document.ts";
import type { Format, FormatId } from "./format.ts";
import { FORMATS } from "./formats.ts";
import { type Head, headOf, headOfOne } from "./head.ts";
import { logLines } from "./log-lines.ts";
import { isStrict, type LogLine } from "./records.ts";
import { isFields } from "../base/fields.ts";
import type { Source } from "../base/text/source.ts";
import { countStrict, type Place, threadsIn, threadsOf } from "./threads.ts";
import type { Conversation, Element, FlawedLine, Transcript, Unrecognised } from "./transcript.ts";

/** How to read a transcript. */
export interface ReadOptions {
  /** The format to read it as. Default: found out from the file. */
  readonly format?: FormatId;
}

/** Reads a file once, from front to back, holding one line at a time where the format has lines. */
export async function readTranscript(source: Source, options: ReadOptions = {}): Promise<Transcript | Unrecognised> {
  const head = await headOf(source);
  const lines = asLines(head, options.format);
  const isDocument = lines === undefined || (head.begins && (await isOneDocument(source)));
  if (!isDocument) return readLines(source, lines, options.format !== undefined);
  const document = await readDocument(source, head, options.format);
  if (!("otherwise" in document)) return document;
  // One line, too long to be looked at before: it may be the only record of a log, with a picture in it.
  const isOne = !head.several && head.records.length === 0;
  const alone = isOne ? asLines(headOfOne(document.value), options.format) : undefined;
  return alone === undefined ? document.otherwise : readLines(source, alone, options.format !== undefined);
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

async function readLines(source: Source, detected: Detected, named: boolean): Promise<Transcript> {
  const reader = new LinesReader(detected, named);
  for await (const lines of logLines(source)) for (const line of lines) reader.take(line);
  return reader.transcript();
}

/** Takes the lines of a file one by one: records of one log, or documents with conversations of their own. */
class LinesReader {
  readonly #detected: Detected;
  /** The user said what it is, so that a document is searched for its likeliest list. */
  readonly #named: boolean;
  readonly #log: LogReader;
  readonly #flawed: FlawedLine[] = [];
  readonly #conversations: Conversation[] = [];
  #records = 0;
  #badLines = 0;
  #gluedLines = 0;
  #last = 0;

  constructor(detected: Detected, named: boolean) {
    this.#detected = detected;
    this.#named = named;
    this.#log = new LogReader(detected.format);
  }

  take(line: LogLine): void {
    const { records, fragments, flaws, line: raw } = line;
    const strict = isStrict(line);
    if (records.length > 0 || fragments.length > 0 || flaws.length > 0) this.#last = raw.number;
    if (!strict) this.#badLines += 1;
    if (!strict && flaws.includes("glued-records") && fragments.length === 0) this.#gluedLines += 1;
    if (flaws.length > 0) this.#flawed.push({ line: raw.number, flaws, fragments: fragments.length });
    for (const text of records) {
      this.#record(line.value === undefined ? (JSON.parse(text) as unknown) : line.value, raw.number, strict);
    }
  }

  transcript(): Transcript {
    const { format, layout } = this.#detected;
    const conversations = layout === "log" ? [this.#log.conversation()] : this.#conversations;
    const lines = { badLines: this.#badLines, gluedLines: this.#gluedLines };
    return {
      format,
      layout,
      conversations,
      flawed: withTornEnd(this.#flawed, this.#last),
      totals: sumTotals(conversations.map(countStrict), lines),
      records: this.#records,
    };
  }

  #record(value: unknown, line: number, strict: boolean): void {
    const { format, layout } = this.#detected;
    const place = { record: this.#records++, line, strict };
    if (layout === "log") return this.#log.take(value, place);
    const threads = this.#named ? threadsIn(format, value) : undefined;
    for (const conversation of threadsOf(format, value, place, threads)) this.#conversations.push(conversation);
  }
}

/** The last line, cut, is a write that a crash interrupted; any other line is damage. */
function withTornEnd(flawed: readonly FlawedLine[], last: number): readonly FlawedLine[] {
  return flawed.map((line) => {
    if (line.line !== last || !line.flaws.includes("bad-line")) return line;
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
