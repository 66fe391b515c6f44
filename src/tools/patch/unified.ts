import { type FileChange, type Hunk, HunkLines, type ParsedPatch } from "./change.ts";

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const NOWHERE = "/dev/null";
/** What `git diff` says between files, and what nothing depends on. */
const AROUND = /^(diff |index |similarity |dissimilarity |old mode |new mode |new file mode |deleted file mode )/;

interface Open {
  readonly from: string;
  readonly to: string;
  readonly hunks: Hunk[];
}

/** `--- a/path`, `+++ b/path`, `@@ -1,2 +1,3 @@`: as `diff -u` and `git diff` write it. */
export function parseUnified(lines: readonly string[]): ParsedPatch {
  const changes: FileChange[] = [];
  let open: Open | undefined;
  let renamed: string | undefined;
  const close = () => {
    if (open !== undefined) changes.push(changeOf(open));
    open = undefined;
  };
  const fail = (at: number, why: string): ParsedPatch => ({ ok: false, line: at + 1, why });
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (line.startsWith("rename from ")) renamed = line.slice("rename from ".length);
    else if (line.startsWith("rename to ") && renamed !== undefined) {
      close();
      open = { from: renamed, to: line.slice("rename to ".length), hunks: [] };
      renamed = undefined;
    } else if (line.startsWith("--- ")) {
      const next = lines[at + 1] ?? "";
      if (!next.startsWith("+++ ")) return fail(at + 1, "After the --- line comes the +++ line.");
      const [from, to] = [pathOf(line), pathOf(next)];
      if (open === undefined || open.from !== from || open.to !== to || open.hunks.length > 0) {
        close();
        open = { from, to, hunks: [] };
      }
      at += 1;
    } else if (HUNK.test(line)) {
      if (open === undefined) return fail(at, "A hunk stands before any --- and +++ line.");
      const read = hunkFrom(lines, at);
      if ("why" in read) return fail(read.at, read.why);
      open.hunks.push(read.hunk);
      at = read.end - 1;
    } else if (line.startsWith("@@"))
      return fail(
        at,
        "A hunk begins with @@ -line,count +line,count @@. Or use *** Begin Patch, which needs no numbers.",
      );
    else if (AROUND.test(line) || line.trim() === "") {
      if (line.startsWith("diff ")) close();
    } else return fail(at, "This is neither a header nor a line of a hunk. Its counts may be wrong.");
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
    return { at, why: `The hunk says ${before} and ${after} lines and has ${had} and ${gets}.` };
  return { hunk: hunk.end(), end };
}

function changeOf({ from, to, hunks }: Open): FileChange {
  if (to === NOWHERE) return { kind: "delete", path: from };
  if (from === NOWHERE) return { kind: "add", path: to, text: addedText(hunks) };
  return { kind: "update", path: from, hunks, ...(from === to ? {} : { to }) };
}

function addedText(hunks: readonly Hunk[]): string {
  return hunks
    .map(({ before, after }) => (before.length > 0 ? after.join("\n") : after.map((line) => `${line}\n`).join("")))
    .join("");
}

/** Without the `a/` or `b/` of git, and without the time that diff writes behind it. */
function pathOf(line: string): string {
  const path = line.slice(4).split("\t")[0]?.trim() ?? "";
  return path === NOWHERE ? path : path.replace(/^[ab]\//, "");
}
