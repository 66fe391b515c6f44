import { shownName } from "../base/shown-name.ts";
import { type Call, defineTool, HoldfastError, type Tool } from "../index.ts";
import { argumentsOf, flag, optional, text, whole } from "./arguments.ts";
import type { ToolLimits } from "./limits.ts";
import { fileFailure, globbed, Unreadable, passedOver, plainPath } from "./look.ts";
import { type LinePattern, linePattern, literalPattern } from "./pattern/pattern.ts";

const MOST_AROUND = 10;
const LONGEST_SHOWN = 300;
/** Of them, those up to the end of the match. */
const SHOWN_BEFORE = 200;
const LOOKED_AT = 8_192;
const AS_TEXT = "Set literal to look for it as plain text.";
/** A line break that is looked for is found nowhere, and that would be believed. */
const BY_LINES = "Lines are searched one by one, and none holds a line break";

/** Lines by what they hold. The pattern is run by a matcher that needs one pass, whatever the pattern. */
export function grepTool(limits: ToolLimits): Tool {
  return defineTool({
    name: "grep",
    description:
      "Find lines in the files of the workspace, by a regular expression (no lookaround, no backreferences) or, with " +
      "`literal`, by a plain text. Binary files, .git and node_modules are skipped; name a folder to search it.",
    access: "read",
    ...argumentsOf({
      pattern: text("What to look for in each line."),
      path: optional(text("A folder or file to search. Default: the workspace.")),
      glob: optional(text("Only files that match, e.g. `**/*.ts`.")),
      literal: optional(flag("Take the pattern as plain text.")),
      ignoreCase: optional(flag("Ignore upper and lower case.")),
      around: optional(whole("Lines to show before and after each match.", 0, MOST_AROUND)),
      limit: optional(whole("The most matches to show.", 1, limits.matches)),
    }),
    run: async (input, call) => {
      const { pattern, glob = "**", literal = false, ignoreCase = false, around = 0, limit = limits.matches } = input;
      const path = plainPath(input.path ?? "");
      if (/[\r\n]/.test(pattern)) return call.fail("bad-pattern", `${BY_LINES}: look for one of the lines.`);
      const made = literal ? literalPattern(pattern, ignoreCase) : linePattern(pattern, ignoreCase);
      if (!made.ok) return call.fail("bad-pattern", literal ? made.why : `${made.why} ${AS_TEXT}`);
      try {
        const report = new Report(limit, around, limits.bytes);
        const unreadable = new Unreadable();
        const files = await filesIn(call, path, glob, unreadable);
        for (const file of files) {
          if (report.isFull) break;
          report.search(file, await linesOf(call, file, unreadable, file === path), made.pattern);
        }
        // Taken for the answer that nothing is there, it would be believed.
        const said = files.length === 0 ? noFile(glob) : report.text;
        const broken = !literal && !report.hasMatches && pattern.includes("\\n") ? [`[${BY_LINES}]`] : [];
        return [said, ...broken, ...unreadable.words].join("\n");
      } catch (error) {
        return fileFailure(call, path, error);
      }
    },
  });
}

async function filesIn(call: Call, path: string, glob: string, unreadable: Unreadable): Promise<readonly string[]> {
  try {
    await call.files.list(path);
  } catch (error) {
    if (HoldfastError.is(error, "FILE_NOT_FOLDER")) return [path]; // a file, or a link to one
    throw error;
  }
  return globbed(call, plainPath(glob), { path, exclude: passedOver(glob, path), passedOver: unreadable.add });
}

function noFile(glob: string): string {
  if (glob === "**") return "[there are no files to search]";
  const deeper = glob.includes("/") ? "" : "; put **/ before it to search every folder";
  return `[no file matches ${cut(glob)}${deeper}]`;
}

/** What holds no lines, and a link that leads to nothing. */
const NO_LINES = ["FILE_NOT_FOUND", "FILE_SPECIAL", "FILE_IS_FOLDER", "FILE_BAD_PATH"] as const;

/** The lines of a file as people count them, or nothing when it is no text: which is said when it was named, or may be some. */
async function linesOf(call: Call, file: string, unreadable: Unreadable, isNamed: boolean): Promise<readonly string[]> {
  try {
    const read = (await call.files.readText(file)).replace(/^\uFEFF/, ""); // a mark, and no part of the first line
    if (!read.includes("\0")) return read === "" ? [] : read.replace(/\r?\n$/, "").split(/\r?\n/);
    if (isNamed) unreadable.addForeign(file);
    return [];
  } catch (error) {
    if (HoldfastError.is(error) && NO_LINES.some((code) => code === error.code)) return [];
    if (HoldfastError.is(error, "FILE_NOT_TEXT")) {
      if (isNamed || (await mayBeText(call, file))) unreadable.addForeign(file);
      return [];
    }
    if (!HoldfastError.is(error, "FILE_NOT_READABLE") && !HoldfastError.is(error, "FILE_TOO_LARGE")) throw error;
    unreadable.add(file, error);
    return [];
  }
}

/** In an older encoding, or in UTF-16, which says so. Anything else that is not UTF-8 holds a NUL near its beginning. */
async function mayBeText({ files }: Call, file: string): Promise<boolean> {
  for await (const piece of files.readStream(file, { from: 0, to: LOOKED_AT }))
    return !piece.includes(0) || /^(\xff\xfe|\xfe\xff)/.test(Buffer.from(piece.subarray(0, 2)).toString("latin1"));
  return false;
}

class Report {
  readonly #lines: string[] = [];
  readonly #limit: number;
  readonly #around: number;
  readonly #most: number;
  #size = 0;
  #matches = 0;
  #more = false;

  constructor(limit: number, around: number, most: number) {
    this.#limit = limit;
    this.#around = around;
    this.#most = most;
  }

  get hasMatches(): boolean {
    return this.#matches > 0;
  }

  get isFull(): boolean {
    return this.#more;
  }

  search(path: string, lines: readonly string[], pattern: LinePattern): void {
    const file = shownName(path);
    let shown = -1;
    for (const [at, line] of lines.entries()) {
      const end = pattern(line);
      if (end === -1) continue;
      if (this.#matches >= this.#limit || this.#size >= this.#most) {
        this.#more = true;
        return;
      }
      this.#matches += 1;
      const from = Math.max(at - this.#around, shown + 1);
      if (this.#around > 0 && shown >= 0 && from > shown + 1) this.#say("--");
      for (let near = from; near < at; near += 1) this.#say(`${file}-${near + 1}-${cut(lines[near] ?? "")}`);
      this.#say(`${file}:${at + 1}:${cut(line, end)}`);
      shown = at;
      const until = Math.min(at + this.#around, lines.length - 1);
      for (let near = at + 1; near <= until && pattern(lines[near] ?? "") === -1; near += 1) {
        this.#say(`${file}-${near + 1}-${cut(lines[near] ?? "")}`);
        shown = near;
      }
    }
  }

  #say(line: string): void {
    this.#lines.push(line);
    this.#size += line.length + 1;
  }

  get text(): string {
    if (this.#matches === 0) return "[no line matches]";
    const more = this.#more ? [`[only the first ${this.#matches}; use a narrower pattern or glob]`] : [];
    return [...this.#lines, ...more].join("\n");
  }
}

/** A long line around its match: of a line that a program wrote, its beginning shows nothing of what was found. */
function cut(text: string, end = 0): string {
  if (text.length <= LONGEST_SHOWN) return text;
  const from = end <= LONGEST_SHOWN ? 0 : Math.min(end - SHOWN_BEFORE, text.length - LONGEST_SHOWN);
  const more = text.length - LONGEST_SHOWN - from;
  const shown = text.slice(from, from + LONGEST_SHOWN).toWellFormed();
  return `${from === 0 ? "" : `[from column ${from + 1}] `}${shown}${more === 0 ? "" : ` […${more} more characters]`}`;
}
