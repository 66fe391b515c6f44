import { firstWhere } from "../base/first-where.ts";
import type { Format } from "./format.ts";
import type { Changes } from "./plan.ts";
import { logLines } from "./log-lines.ts";
import type { LogLine } from "./records.ts";
import { type RecordChanges, recordChanges } from "./record-changes.ts";
import { encode } from "../base/text/decode.ts";
import { type Edit, editPieces, editText } from "../base/text/edit.ts";
import { mendText } from "../base/text/flaws.ts";
import type { Source } from "../base/text/source.ts";
import { SpanIndex } from "../base/text/span-index.ts";
import type { Element, Transcript } from "./transcript.ts";

/** The repaired file. Lines that nothing was wrong with come out as the bytes that went in. */
export async function* rewrite(
  source: Source,
  transcript: Transcript,
  changes: readonly Changes[],
): AsyncGenerator<Uint8Array> {
  if (transcript.text !== undefined) {
    const spans = new SpanIndex(transcript.text);
    const texts = (element: Element) => spans.textOf(element.path) ?? "{}";
    const edits = recordChanges(transcript, changes, texts).editsOf(0);
    yield* encoded(editPieces(transcript.text, edits));
    return;
  }
  const fetched = await fetchTexts(source, changes);
  const texts = (element: Element) => new SpanIndex(fetched.get(element.record) ?? "{}").textOf(element.path) ?? "{}";
  yield* rewriteLines(source, transcript.format, recordChanges(transcript, changes, texts));
}

/** The records that additions are made from. */
async function fetchTexts(source: Source, changes: readonly Changes[]): Promise<ReadonlyMap<number, string>> {
  const wanted = new Set<number>();
  for (const { inserts, inside } of changes) {
    for (const added of inserts.values()) for (const { element } of added) wanted.add(element.record);
    for (const element of inside.keys()) wanted.add(element.record);
  }
  const texts = new Map<number, string>();
  if (wanted.size === 0) return texts;
  let record = 0;
  for await (const lines of logLines(source)) {
    for (const { records } of lines) {
      for (const text of records) {
        if (wanted.has(record)) texts.set(record, text);
        record += 1;
      }
    }
  }
  return texts;
}

async function* rewriteLines(source: Source, format: Format, changes: RecordChanges): AsyncGenerator<Uint8Array> {
  const writer = new LineWriter(format, changes);
  yield* gathered(writer.added(-1));
  for await (const lines of logLines(source)) yield* gathered(writer.lines(lines));
}

/** Small pieces together, large ones as they are: most of a document is slices of its text, and is copied once. */
function* encoded(pieces: Iterable<string>): Generator<Uint8Array> {
  let held = "";
  for (const piece of pieces) {
    if (held.length + piece.length < CHUNK) held += piece;
    else {
      if (held !== "") yield encode(mendText(held));
      held = "";
      yield encode(mendText(piece));
    }
  }
  if (held !== "") yield encode(mendText(held));
}

const LF = encode("\n");
const CRLF = encode("\r\n");
const CHUNK = 64 * 1024;

/** Pieces in chunks of a useful size, copied: the source may use its buffer again. */
function* gathered(pieces: Iterable<Uint8Array>): Generator<Uint8Array> {
  let held: Uint8Array[] = [];
  let size = 0;
  for (const piece of pieces) {
    held.push(piece);
    size += piece.length;
    if (size < CHUNK) continue;
    yield Buffer.concat(held);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held);
}

/** Writes lines in order and keeps count, because some records name others by their position. */
class LineWriter {
  readonly #format: Format;
  readonly #changes: RecordChanges;
  #record = 0;
  readonly #shifts = new Shifts();
  #open = false;

  constructor(format: Format, changes: RecordChanges) {
    this.#format = format;
    this.#changes = changes;
  }

  *lines(lines: Iterable<LogLine>): Generator<Uint8Array> {
    for (const line of lines) yield* this.#line(line);
  }

  *#line(line: LogLine): Generator<Uint8Array> {
    const { records, flaws, fragments } = line;
    const first = this.#record;
    const touched = records.some((_, nth) => this.#isTouched(first + nth)) || flaws.length > 0 || this.#moves(records);
    if (!touched) {
      yield* this.#raw(line);
      this.#record += records.length;
      for (let nth = 0; nth < records.length; nth += 1) yield* this.added(first + nth);
      return;
    }
    const blank = records.length === 0 && fragments.length === 0 && !flaws.includes("nul-run");
    if (blank) yield this.#ended("", line.line.end);
    for (const text of records) {
      const record = this.#record++;
      if (this.#changes.isRemoved(record)) this.#shifts.add(record, -1);
      else yield this.#ended(this.#written(text, record), line.line.end);
      yield* this.added(record);
    }
  }

  *added(after: number): Generator<Uint8Array> {
    for (const text of this.#changes.added(after)) {
      this.#shifts.add(after, 1);
      yield this.#ended(mendText(text), "\n");
    }
  }

  /** Bytes as they were, behind a line that may have lacked its end. */
  *#raw({ line }: LogLine): Generator<Uint8Array> {
    if (this.#open && line.bytes.length > 0) yield LF;
    this.#open = line.end === "";
    yield line.bytes;
    if (line.end !== "") yield line.end === "\n" ? LF : CRLF;
  }

  #ended(text: string, end: string): Uint8Array {
    const lead = this.#open ? "\n" : "";
    this.#open = end === "";
    return encode(`${lead}${text}${end === "" ? "" : "\n"}`);
  }

  #isTouched(record: number): boolean {
    return this.#changes.isRemoved(record) || this.#changes.editsOf(record).length > 0;
  }

  #written(text: string, record: number): string {
    const edits = [...this.#changes.editsOf(record), ...this.#positionEdits(text)];
    return mendText(edits.length === 0 ? text.trim() : editText(text, edits));
  }

  /** Whether a record here names a position that is another one by now. */
  #moves(records: readonly string[]): boolean {
    return this.#shifts.any && records.some((text) => this.#positionEdits(text).length > 0);
  }

  #positionEdits(text: string): readonly Edit[] {
    const keys = (this.#format.positions ?? []).filter((key) => text.includes(`"${key}"`));
    if (keys.length === 0 || !this.#shifts.any) return [];
    const fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return keys.flatMap((key): readonly Edit[] => {
      const at = fields[key];
      if (typeof at !== "number") return [];
      const shift = this.#shifts.before(at);
      return shift === 0 ? [] : [{ op: "set", path: [key], value: at + shift }];
    });
  }
}

/** What came and went so far, and where: in the order of the file, so that a position is looked up and not counted. */
class Shifts {
  readonly #records: number[] = [];
  readonly #sums: number[] = [];

  get any(): boolean {
    return this.#records.length > 0;
  }

  add(record: number, by: number): void {
    this.#records.push(record);
    this.#sums.push((this.#sums.at(-1) ?? 0) + by);
  }

  /** By how much what stood at this position has moved. */
  before(position: number): number {
    const passed = firstWhere(this.#records.length, (nth) => (this.#records[nth] as number) >= position);
    return this.#sums[passed - 1] ?? 0;
  }
}
