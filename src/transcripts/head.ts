import { logLines, SmallFile } from "./log-lines.ts";
import type { LogLine } from "./records.ts";
import { isFields } from "../base/fields.ts";
import type { Source } from "../base/text/source.ts";

/** The beginning of a file: whether it is lines of records, and some of them. */
export interface Head {
  readonly records: readonly unknown[];
  /** Some line is a record as it stands, so that the file is not one document whose lines mean nothing. */
  readonly sound: boolean;
  /** More than one line has content. */
  readonly several: boolean;
  /** The first line alone opens a document that goes on below. */
  readonly opens: boolean;
  /** The first line is no record as it stands, and may be the beginning of a document. */
  readonly begins: boolean;
}

/** How many records are looked at. Sessions open with bookkeeping, so the first lines alone say little. */
const SAMPLE = 60;
/** How many bytes are looked at, unless the first line is longer. */
const ENOUGH = 4 * 1024 * 1024;

export async function headOf(source: Source): Promise<Head> {
  if (source instanceof SmallFile) return readHead(source, () => false);
  const part = new FirstBytes(source, ENOUGH);
  const head = await readHead(part, ({ line }) => line.end === "" && part.cut);
  if (head.records.length > 0 || head.several || !part.cut) return head;
  // One line longer than that: a document, or a log that begins with a picture.
  if (await hasOneLine(source)) return { ...head, opens: true };
  return readHead(source, () => false);
}

/** The head of a file of which one sound line is all. */
export function headOfOne(value: unknown): Head {
  return { records: [value], sound: isRecord(value), several: false, opens: false, begins: false };
}

async function readHead(source: Source, isCut: (line: LogLine) => boolean): Promise<Head> {
  const reader = new HeadReader();
  for await (const lines of logLines(source)) {
    for (const line of lines) if (isCut(line) || !reader.takesMore(line)) return reader.head();
  }
  return reader.head();
}

class HeadReader {
  readonly #records: unknown[] = [];
  #filled = 0;
  #opens = false;
  #begins = false;
  #sound = false;

  /** Takes a line and says whether another one would tell more. */
  takesMore({ line, records: found, value, flaws }: LogLine): boolean {
    if (found.length === 0 && line.bytes.length < 3 && !flaws.includes("bad-line")) return true;
    this.#filled += 1;
    if (this.#filled === 1) {
      this.#opens = found.length === 0 && isBracket(line.bytes);
      this.#begins = value === undefined && OPENING.has(line.bytes.find((byte) => byte > SPACE));
    }
    this.#sound ||= isRecord(value);
    if (value !== undefined) this.#records.push(value);
    else for (const text of found) this.#records.push(JSON.parse(text));
    return this.#records.length < SAMPLE && (this.#filled < 5 || this.#records.length > 0);
  }

  head(): Head {
    return {
      records: this.#records,
      sound: this.#sound,
      several: this.#filled > 1,
      opens: this.#opens,
      begins: this.#begins,
    };
  }
}

function isRecord(value: unknown): boolean {
  return isFields(value) && Object.keys(value).length > 0;
}

/** `[` and `{`. */
const OPENING: ReadonlySet<number | undefined> = new Set([0x5b, 0x7b]);
const SPACE = 0x20;

function isBracket(line: Uint8Array): boolean {
  return line.length < 64 && /^\s*[[{]\s*$/.test(new TextDecoder().decode(line));
}

async function hasOneLine(source: Source): Promise<boolean> {
  let ended = false;
  for await (const chunk of source.chunks()) {
    const at = ended ? 0 : chunk.indexOf(10) + 1;
    if (ended || at > 0) {
      ended = true;
      if (chunk.subarray(at).some((byte) => byte > 32)) return false;
    }
  }
  return true;
}

/** A source that ends early, and knows whether it did. */
export class FirstBytes implements Source {
  readonly name: string;
  cut = false;
  readonly #source: Source;
  readonly #limit: number;

  constructor(source: Source, limit: number) {
    this.name = source.name;
    this.#source = source;
    this.#limit = limit;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    let room = this.#limit;
    for await (const chunk of this.#source.chunks()) {
      this.cut = chunk.length > room;
      yield chunk.subarray(0, room);
      room -= chunk.length;
      if (this.cut) return;
    }
  }
}
