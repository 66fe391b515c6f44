import { shownName } from "../base/shown-name.ts";
import { type Call, defineTool, type Tool, toolResult } from "../index.ts";
import { argumentsOf, optional, text, whole } from "./arguments.ts";
import { fileFailure, plainPath } from "./look.ts";
import { mediaTypeOf } from "./media-type.ts";
import type { ToolLimits } from "./limits.ts";

/** Lines with their numbers, a part at a time; pictures and PDF files as themselves. */
export function readFileTool({ lines: most, lineLength, bytes: mostBytes, media }: ToolLimits): Tool {
  return defineTool({
    name: "read_file",
    description:
      "Read a file of the workspace. Text is shown with line numbers, which are not part of the file; long files are shown in parts. " +
      "Pictures and PDF files are shown.",
    access: "read",
    ...argumentsOf({
      path: text("Relative to the workspace."),
      from: optional(whole("The first line to show, counted from 1.", 1, Number.MAX_SAFE_INTEGER)),
      lines: optional(whole("How many lines to show.", 1, most)),
      column: optional(whole("The first character to show of each line, counted from 1.", 1, Number.MAX_SAFE_INTEGER)),
    }),
    run: async ({ path: given, from = 1, lines = most, column = 1 }, call) => {
      const path = plainPath(given);
      try {
        const first = await beginning(call, path);
        const mediaType = mediaTypeOf(first);
        if (mediaType !== undefined) return await shownMedia(call, path, mediaType);
        if (first.includes(0)) return binary(call, path);
        return await numbered(call, path, { from, lines, column });
      } catch (error) {
        return fileFailure(call, path, error);
      }
    },
  });

  async function shownMedia(call: Call, path: string, mediaType: string) {
    const { length, bytes } = await upTo(call, path, media);
    if (bytes === undefined)
      return call.fail(
        "too-large",
        `${shownName(path)} is ${mediaType} of more than ${length} bytes, too large to be shown.`,
      );
    return toolResult([
      `${shownName(path)}: ${mediaType}, ${bytes.length} bytes`,
      { mediaType, bytes, name: nameOf(path) },
    ]);
  }

  async function numbered(call: Call, path: string, range: Range) {
    const reader = new LineReader(range, lineLength, mostBytes);
    const decoder = new TextDecoder("utf-8", { fatal: true }); // without the mark that some editors begin a file with
    try {
      for await (const piece of call.files.readStream(path)) {
        if (piece.includes(0)) return binary(call, path);
        reader.take(decoder.decode(piece, { stream: true }));
      }
      reader.take(decoder.decode());
    } catch (error) {
      if (error instanceof TypeError) return call.fail("not-text", `${shownName(path)} is not UTF-8 text.`);
      throw error;
    }
    const { shown, total, last } = reader.end();
    if (total === 0) return `[${shownName(path)} is empty]`;
    if (shown.length === 0)
      return call.fail("no-such-line", `${shownName(path)} has ${total} lines; there is no line ${range.from}.`);
    const whole = range.from === 1 && last === total;
    const rest = last < total ? `; read on with from: ${last + 1}` : "";
    return whole ? shown.join("\n") : `${shown.join("\n")}\n[lines ${range.from} to ${last} of ${total}${rest}]`;
  }
}

function binary(call: Call, path: string) {
  return call.fail("not-text", `${shownName(path)} is neither text nor a picture or PDF that could be shown.`);
}

function nameOf(path: string): string {
  return path.split("/").at(-1) ?? path;
}

async function beginning(call: Call, path: string): Promise<Uint8Array> {
  for await (const piece of call.files.readStream(path)) return piece.slice(0, 4_096);
  return new Uint8Array();
}

async function upTo(call: Call, path: string, most: number) {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of call.files.readStream(path)) {
    length += piece.length;
    if (length > most) return { length: most };
    pieces.push(piece);
  }
  return { length, bytes: new Uint8Array(Buffer.concat(pieces)) };
}

/** What of a file is shown: so many lines, and each from a character on. All are counted from 1. */
interface Range {
  readonly from: number;
  readonly lines: number;
  readonly column: number;
}

/** Keeps the lines that were asked for and counts the others: a file of any size costs what is shown. */
class LineReader {
  readonly #from: number;
  readonly #to: number;
  /** Characters of each line that are left out at its beginning. */
  readonly #skipped: number;
  readonly #longest: number;
  readonly #most: number;
  readonly #shown: string[] = [];
  #size = 0;
  #open = "";
  #openLength = 0;
  #line = 1;
  #last = 0;

  constructor({ from, lines, column }: Range, longest: number, most: number) {
    this.#from = from;
    this.#to = from + lines - 1;
    this.#skipped = column - 1;
    this.#longest = longest;
    this.#most = most;
  }

  take(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#add(text.slice(start, end));
      this.#close();
      start = end + 1;
    }
    this.#add(text.slice(start));
  }

  end(): { readonly shown: readonly string[]; readonly total: number; readonly last: number } {
    if (this.#openLength > 0) this.#close();
    return { shown: this.#shown, total: this.#line - 1, last: this.#last };
  }

  #add(piece: string): void {
    const start = Math.max(0, this.#skipped - this.#openLength);
    this.#openLength += piece.length;
    if (this.#wanted && this.#open.length <= this.#longest) this.#open += piece.slice(start, start + this.#longest + 1);
  }

  get #wanted(): boolean {
    return this.#line >= this.#from && this.#line <= this.#to && (this.#size < this.#most || this.#shown.length === 0);
  }

  #close(): void {
    if (this.#wanted) {
      const left = this.#openLength - this.#skipped - this.#longest;
      const text = left > 0 ? this.#open.slice(0, this.#longest) : this.#open.replace(/\r$/, "");
      const next = this.#skipped + this.#longest + 1;
      const more = left > 0 ? ` […${left} more characters in this line; read on with column: ${next}]` : "";
      const line = `${this.#line}\t${text.toWellFormed()}${more}`;
      this.#shown.push(line);
      this.#size += line.length;
      this.#last = this.#line;
    }
    this.#open = "";
    this.#openLength = 0;
    this.#line += 1;
  }
}
