/** What a patch does to one file. */
export type FileChange =
  | { readonly kind: "add"; readonly path: string; readonly text: string; readonly mode?: number }
  /** With the lines that it holds, when the patch says them. */
  | { readonly kind: "delete"; readonly path: string; readonly hunks?: readonly Hunk[] }
  | {
      readonly kind: "update";
      readonly path: string;
      readonly to?: string;
      readonly hunks: readonly Hunk[];
      readonly mode?: number;
    };

/** Lines that stand in a file, and those that shall stand there instead. */
export interface Hunk {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Lines that stand somewhere before it, in order: `@@ class A`, `@@ run() {`. */
  readonly anchors: readonly string[];
  /** Where it stood when the patch was made, from 1; of an insertion, the line before it. */
  readonly line?: number;
  /** How many empty lines at its end may only separate it from what follows in the patch, and need not stand in the file. */
  readonly gap?: number;
  /** It stands at the end of the file: of its `text`, or of its `lines`, whether or not a line break follows the last. */
  readonly ends?: "text" | "lines";
}

export type ParsedPatch =
  | { readonly ok: true; readonly changes: readonly FileChange[] }
  | { readonly ok: false; readonly line: number; readonly why: string };

/** Lines of a hunk as they are read. A last line without a line break is marked on the side it belongs to. */
export class HunkLines {
  readonly #before: string[] = [];
  readonly #after: string[] = [];
  readonly #anchors: readonly string[];
  readonly #line: number | undefined;
  #last: "both" | "before" | "after" | undefined;
  #openBefore = false;
  #openAfter = false;
  #isLast = false;
  /** Empty lines that were read last. They have no mark, so they may be lines of the file or of the patch alone. */
  #gap = 0;

  constructor(anchors: readonly string[], line?: number) {
    this.#anchors = anchors;
    this.#line = line;
  }

  /** False when the line is none of a hunk. */
  take(line: string): boolean {
    const text = line.slice(1);
    this.#gap = line === "" ? this.#gap + 1 : 0;
    if (line.startsWith("+")) this.#put("after", text);
    else if (line.startsWith("-")) this.#put("before", text);
    else if (line.startsWith(" ") || line === "") this.#put("both", text);
    else if (line.startsWith("\\")) this.#unended();
    else return false;
    return true;
  }

  get counts(): { readonly before: number; readonly after: number } {
    return { before: this.#before.length, after: this.#after.length };
  }

  /** Whether anything is to change. */
  get isEmpty(): boolean {
    return this.#before.length === this.#gap && this.#after.length === this.#gap;
  }

  /** Nothing of the file comes after it. */
  endFile(): void {
    this.#isLast = true;
  }

  end(): Hunk {
    // A file that ends in a line break has an empty line after it; one side without has none.
    const before = this.#openAfter && !this.#openBefore ? [...this.#before, ""] : this.#before;
    const after = this.#openBefore && !this.#openAfter ? [...this.#after, ""] : this.#after;
    // Where it is said how many lines there are, all of them are the file's.
    const free = this.#gap === 0 ? {} : { gap: this.#gap };
    const place = { ...(this.#line === undefined ? free : { line: this.#line }), ...this.#ends() };
    return { before, after, anchors: this.#anchors, ...place };
  }

  /** Only the last line of a file has no line break. Where both sides have none, the hunk does not change that. */
  #ends(): Pick<Hunk, "ends"> {
    if (this.#openBefore !== this.#openAfter) return { ends: "text" };
    return this.#openBefore || this.#isLast ? { ends: "lines" } : {};
  }

  #put(side: "both" | "before" | "after", text: string): void {
    if (side !== "after") this.#before.push(text);
    if (side !== "before") this.#after.push(text);
    this.#last = side;
  }

  #unended(): void {
    if (this.#last !== "after") this.#openBefore = true;
    if (this.#last !== "before") this.#openAfter = true;
  }
}
