import { HoldfastError } from "./errors.ts";

/** One file of an archive. */
export interface ArchiveFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const BLOCK = 512;
/** What a header has room for; every file of ours is far from it. */
const LONGEST_PATH = 100;
const LARGEST = 8 ** 11 - 1;

/**
 * A file as it stands in a tar archive. Nothing in it depends on when or by whom it was made, so the same files are the same
 * bytes; and since every byte has one right value, none can be changed unnoticed.
 */
export function tarFile({ path, bytes }: ArchiveFile): Uint8Array {
  const padded = Math.ceil(bytes.length / BLOCK) * BLOCK;
  const file = new Uint8Array(BLOCK + padded);
  file.set(headerOf(path, bytes.length));
  file.set(bytes, BLOCK);
  return file;
}

/** What ends an archive. */
export const TAR_END: Uint8Array = new Uint8Array(2 * BLOCK);

/** The files of an archive, one at a time. Anything but what `tarFile` writes is refused. */
export async function* readTar(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncIterable<ArchiveFile> {
  const pieces = new Pieces(source);
  for (;;) {
    const header = await pieces.take(BLOCK);
    if (header === undefined) throw damaged("it ends without an end");
    if (header.every((byte) => byte === 0)) break;
    const path = textIn(header, 0, LONGEST_PATH);
    const size = Number.parseInt(textIn(header, 124, 12), 8);
    const known = isPath(path) && Number.isSafeInteger(size) && size >= 0 && size <= LARGEST;
    if (!known || !same(header, headerOf(path, size))) throw damaged("a header is not what it should be");
    const bytes = await pieces.take(size);
    const padding = await pieces.take((BLOCK - (size % BLOCK)) % BLOCK);
    if (bytes === undefined || padding === undefined) throw damaged(`${path} is cut off`);
    if (!padding.every((byte) => byte === 0)) throw damaged(`there is something behind ${path}`);
    yield { path, bytes };
  }
  const rest = await pieces.take(BLOCK);
  if (rest === undefined || !rest.every((byte) => byte === 0)) throw damaged("its end is cut off");
  if (!(await pieces.isAtEnd())) throw damaged("there is something behind its end");
}

/** Names below the archive, made of plain letters: whoever unpacks it elsewhere writes nowhere else. */
function isPath(path: string): boolean {
  return path.length <= LONGEST_PATH && /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/.test(path);
}

function headerOf(path: string, size: number): Uint8Array {
  if (!isPath(path) || size > LARGEST) throw new HoldfastError("BAD_OPTION", { option: "path", value: path });
  const header = new Uint8Array(BLOCK);
  const put = (text: string, at: number) => header.set(Buffer.from(text, "latin1"), at);
  put(path, 0);
  put("0000600\0", 100);
  put("0000000\0", 108);
  put("0000000\0", 116);
  put(`${size.toString(8).padStart(11, "0")}\0`, 124);
  put("00000000000\0", 136);
  put("        ", 148);
  put("0", 156);
  put("ustar\0", 257);
  put("00", 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

function textIn(header: Uint8Array, from: number, length: number): string {
  const field = header.subarray(from, from + length);
  const end = field.indexOf(0);
  return Buffer.from(end === -1 ? field : field.subarray(0, end)).toString("latin1");
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function damaged(detail: string): HoldfastError {
  return new HoldfastError("BUNDLE_DAMAGED", { detail });
}

/** Bytes that come as they like, taken in the sizes that are wanted. */
class Pieces {
  readonly #source: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  #held = Buffer.alloc(0);

  constructor(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    this.#source = Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  }

  /** Undefined when there are not so many. */
  async take(size: number): Promise<Uint8Array | undefined> {
    const parts: Uint8Array[] = [this.#held];
    let length = this.#held.length;
    while (length < size) {
      const next = await this.#source.next();
      if (next.done === true) return undefined;
      parts.push(next.value);
      length += next.value.length;
    }
    const all = parts.length === 1 ? this.#held : Buffer.concat(parts);
    this.#held = all.subarray(size);
    return Uint8Array.from(all.subarray(0, size));
  }

  async isAtEnd(): Promise<boolean> {
    if (this.#held.length > 0) return false;
    for (;;) {
      const next = await this.#source.next();
      if (next.done === true) return true;
      if (next.value.length > 0) return false;
    }
  }
}
