import { unquoted } from "./quoted.ts";
import { type FileChange, type Hunk, HunkLines, type ParsedPatch } from "./change.ts";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NOWHERE = "/dev/null";
/** Of a file that gets another name, until the lines below say both. */
const UNNAMED = "";
/** What `git diff` says between files, and what nothing depends on. */
const AROUND = /^(diff |index |similarity |dissimilarity |old mode )/;
const MODE = /^(new|new file|deleted file) mode (?:100)?([0-7]{3})$/;

/** What `git diff` says of things that are not changed by lines. Taken for noise, a part of the patch would be left out. */
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^copy (?:from|to) /, "A copy cannot be made by a patch. Add it as a new file, with all of its lines."],
  [
    /^(?:GIT binary patch$|Binary files .* differ$)/,
    "A file that is not text cannot be changed by a patch. Leave it out of the patch.",
  ],
  [
    /^(?:(?:old|new|new file|deleted file) mode|index \S+) 120000$/,
    "A symbolic link cannot be made, changed or deleted by a patch. Leave it out of the patch.",
  ],
  [
    /^(?:(?:old|new|new file|deleted file) mode|index \S+) 160000$/,
    "A submodule cannot be changed by a patch. Leave it out of the patch.",
  ],
];

interface Open {
  from: string;
  to: string;
  mode?: number;
  readonly hunks: Hunk[];
  /** Told by more than its `diff --git` line, which every file has. */
  told: boolean;
}

/** `--- a/path`, `+++ b/path`, `@@ -1,2 +1,3 @@`: as `diff -u` and `git diff` write it. */
export function parseUnified(lines: readonly string[]): ParsedPatch {
  const changes: FileChange[] = [];
  let open: Open | undefined;
  const close = () => {
    if (open?.told === true) changes.push(changeOf(open));
    open = undefined;
  };
  const begin = (from: string, to: string, told: boolean) => {
    close();
    open = { from, to, hunks: [], told };
    return open;
  };
  const fail = (at: number, why: string): ParsedPatch => ({ ok: false, line: at + 1, why });
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, what, mode = ""] = MODE.exec(line) ?? [];
    const [, unsupported] = UNSUPPORTED.find(([says]) => says.test(line)) ?? [];
    if (unsupported !== undefined) return fail(at, unsupported);
    if (line.startsWith("diff --git ")) {
      close();
      const path = gitPath(line.slice("diff --git ".length)) ?? UNNAMED;
      begin(path, path, false);
    } else if (line.startsWith("rename from ")) {
      const next = lines[at + 1] ?? "";
      if (!next.startsWith("rename to "))
        return fail(at + 1, "A rename from line must be followed by a rename to line.");
      const [from, to] = [unquoted(line.slice("rename from ".length)), unquoted(next.slice("rename to ".length))];
      if (open?.from === UNNAMED) [open.from, open.to, open.told] = [from, to, true];
      else begin(from, to, true);
      at += 1;
    } else if (what !== undefined && open !== undefined) {
      // A file that is made or deleted empty, or only gets another mode, has no other line.
      if (what === "new file") open.from = NOWHERE;
      if (what === "deleted file") open.to = NOWHERE;
      else open.mode = Number.parseInt(mode, 8);
      open.told = open.from !== UNNAMED;
    } else if (line.startsWith("--- ")) {
      const next = lines[at + 1] ?? "";
      if (!next.startsWith("+++ ")) return fail(at + 1, "A --- line must be followed by a +++ line.");
      const [from, to] = pathsOf(line, next);
      if (open?.from === UNNAMED) [open.from, open.to] = [from, to];
      if (open?.from !== from || open.to !== to || open.hunks.length > 0) begin(from, to, true);
      if (open !== undefined) open.told = true;
      at += 1;
    } else if (HUNK.test(line)) {
      if (open === undefined || open.from === UNNAMED) return fail(at, "A hunk comes before any --- and +++ line.");
      const read = hunkFrom(lines, at);
      if ("why" in read) return fail(read.at, read.why);
      open.hunks.push(read.hunk);
      open.told = true; // also without the --- and +++ lines: left out, it would be missing in what is told as done
      at = read.end - 1;
    } else if (line.startsWith("@@"))
      return fail(
        at,
        "A hunk begins with @@ -line,count +line,count @@. Or use *** Begin Patch, which needs no numbers.",
      );
    else if (!AROUND.test(line) && line.trim() !== "")
      return fail(at, "This is neither a header nor a line of a hunk. Its counts may be wrong.");
  }
  close();
  return changes.length === 0 ? fail(0, "The patch names no file.") : { ok: true, changes };
}

type ReadHunk = { readonly hunk: Hunk; readonly end: number } | { readonly at: number; readonly why: string };

function hunkFrom(lines: readonly string[], at: number): ReadHunk {
  const [, from = "", before = "1", , after = "1"] = HUNK.exec(lines[at] ?? "") ?? [];
  const hunk = new HunkLines([], Number(from));
  let end = at + 1;
  const isFull = () => hunk.counts.before >= Number(before) && hunk.counts.after >= Number(after);
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    if (isFull() && !line.startsWith("\\")) break;
    if (!hunk.take(line)) return { at: end, why: "A line of a hunk begins with a space, - or +." };
  }
  const { before: had, after: gets } = hunk.counts;
  if (had !== Number(before) || gets !== Number(after))
    return { at, why: `The hunk says ${before} and ${after} lines, but has ${had} and ${gets}.` };
  return { hunk: hunk.end(), end };
}

function changeOf({ from, to, hunks, mode }: Open): FileChange {
  const moded = mode === undefined ? {} : { mode };
  if (to === NOWHERE) return { kind: "delete", path: from, hunks };
  if (from === NOWHERE) return { kind: "add", path: to, text: addedText(hunks), ...moded };
  return { kind: "update", path: from, hunks, ...(from === to ? {} : { to }), ...moded };
}

function addedText(hunks: readonly Hunk[]): string {
  return hunks
    .map(({ before, after }) => (before.length > 0 ? after.join("\n") : after.map((line) => `${line}\n`).join("")))
    .join("");
}

/** Without the `a/` and `b/` of git, where both are there, and without the time that diff writes behind them. */
function pathsOf(from: string, to: string): readonly [string, string] {
  const pair = [from, to].map((line) => unquoted(line.slice(4).split("\t")[0]?.trim() ?? ""));
  const [one = "", other = ""] = pair;
  const isGit = (one === NOWHERE || one.startsWith("a/")) && (other === NOWHERE || other.startsWith("b/"));
  const plain = (path: string) => (isGit && path !== NOWHERE ? path.slice(2) : path);
  return [plain(one), plain(other)];
}

/** The path of a `diff --git` line whose two halves name one file; what was renamed is named again below it. */
function gitPath(names: string): string | undefined {
  const half = (names.length - 1) / 2;
  const [one, other] = [unquoted(names.slice(0, half)), unquoted(names.slice(half + 1))];
  return one.startsWith("a/") && other === `b/${one.slice(2)}` ? one.slice(2) : undefined;
}
