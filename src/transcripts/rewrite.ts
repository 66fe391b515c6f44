import type { Format } from "./format.ts";
import type { Changes, Insert } from "./plan.ts";
import { logLines } from "./log-lines.ts";
import type { LogLine } from "./records.ts";
import { insideEdits, renderInsert, type TextOf } from "./render.ts";
import { encode } from "../base/text/decode.ts";
import { type Edit, editPieces, editText, type NewText } from "../base/text/edit.ts";
import { mendText } from "../base/text/flaws.ts";
import type { Source } from "../base/text/source.ts";
import { SpanIndex } from "../base/text/span-index.ts";
import type { Conversation, Element, Transcript } from "./transcript.ts";

/** Changes by the place where the file is written: its records. */
interface RecordChanges {
  readonly edits: Map<number, Edit[]>;
  readonly removed: Set<number>;
  /** Texts that come behind a record; -1 for the start. */
  readonly inserts: Map<number, string[]>;
}

/** The repaired file. Lines that nothing was wrong with come out as the bytes that went in. */
export async function* rewrite(
  source: Source,
  transcript: Transcript,
  changes: readonly Changes[],
): AsyncGenerator<Uint8Array> {
  if (transcript.text !== undefined) {
    const spans = new SpanIndex(transcript.text);
    const texts = (element: Element) => spans.textOf(element.path) ?? "{}";
    const { edits } = recordChanges(transcript, changes, texts);
    for (const piece of editPieces(transcript.text, edits.get(0) ?? [])) yield encode(mendText(piece));
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
    for (const { element } of [...[...inserts.values()].flat(), ...inside]) wanted.add(element.record);
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

/** Element changes as record changes: elements of a document are inside its record, those of a log are records. */
function recordChanges(
  { format, conversations }: Transcript,
  changes: readonly Changes[],
  textOf: TextOf,
): RecordChanges {
  const all: RecordChanges = { edits: new Map(), removed: new Set(), inserts: new Map() };
  for (const [nth, { edits, removed, inserts, inside }] of changes.entries()) {
    const { list } = conversations[nth] as Conversation;
    const own = new Map([...edits].map(([element, made]) => [element, [...made]]));
    for (const answer of inside) {
      const made = own.get(answer.element) ?? [];
      made.push(...insideEdits(answer, format, textOf(answer.element)));
      own.set(answer.element, made);
    }
    const render = (insert: Insert): NewText => {
      const text = renderInsert(insert, format, textOf, own.get(insert.element) ?? []);
      return insert.kind === "answer" ? { text } : { text, asIs: true };
    };
    for (const [element, made] of own) {
      if (removed.has(element)) continue;
      push(all.edits, element.record, ...made.map((edit) => ({ ...edit, path: [...element.path, ...edit.path] })));
    }
    for (const element of removed) {
      if (list === undefined) all.removed.add(element.record);
      else push(all.edits, element.record, { op: "remove", path: element.path });
    }
    for (const [anchor, added] of inserts) {
      const texts = added.map(render);
      if (list === undefined) push(all.inserts, anchor?.record ?? -1, ...texts.map(({ text }) => text));
      else {
        const index = anchor === undefined ? 0 : (anchor.path.at(-1) as number) + 1;
        push(all.edits, list.record, { op: "insert", path: list.path, index, texts });
      }
    }
  }
  return all;
}

function push<K, V>(map: Map<K, V[]>, key: K, ...values: readonly V[]): void {
  const before = map.get(key);
  if (before === undefined) map.set(key, [...values]);
  else before.push(...values);
}

async function* rewriteLines(source: Source, format: Format, changes: RecordChanges): AsyncGenerator<Uint8Array> {
  const writer = new LineWriter(format, changes);
  yield* gathered(writer.added(-1));
  for await (const lines of logLines(source)) yield* gathered(writer.lines(lines));
}

const LF = encode("\n");
const CRLF = encode("\r\n");
const CHUNK = 256 * 1024;

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
  /** What came and went so far, and where. */
  readonly #shifts: { readonly record: number; readonly by: number }[] = [];
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
      if (this.#changes.removed.has(record)) this.#shiftBy(record, -1);
      else yield this.#ended(this.#written(text, record), line.line.end);
      yield* this.added(record);
    }
  }

  *added(after: number): Generator<Uint8Array> {
    for (const text of this.#changes.inserts.get(after) ?? []) {
      this.#shiftBy(after, 1);
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
    return this.#changes.edits.has(record) || this.#changes.removed.has(record);
  }

  #written(text: string, record: number): string {
    const edits = [...(this.#changes.edits.get(record) ?? []), ...this.#positionEdits(text)];
    return mendText(edits.length === 0 ? text.trim() : editText(text, edits));
  }

  /** Whether a record here names a position that is another one by now. */
  #moves(records: readonly string[]): boolean {
    return this.#shifts.length > 0 && records.some((text) => this.#positionEdits(text).length > 0);
  }

  #positionEdits(text: string): readonly Edit[] {
    const keys = (this.#format.positions ?? []).filter((key) => text.includes(`"${key}"`));
    if (keys.length === 0 || this.#shifts.length === 0) return [];
    const fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return keys.flatMap((key): readonly Edit[] => {
      const at = fields[key];
      if (typeof at !== "number") return [];
      const shift = this.#shifts.reduce((sum, { record, by }) => (record < at ? sum + by : sum), 0);
      return shift === 0 ? [] : [{ op: "set", path: [key], value: at + shift }];
    });
  }

  #shiftBy(record: number, by: number): void {
    this.#shifts.push({ record, by });
  }
}
