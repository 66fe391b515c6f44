import { shownName } from "../../base/shown-name.ts";
import { unquotedIfEscaped } from "./quoted.ts";
import { type FileChange, type Hunk, HunkLines, type ParsedPatch } from "./change.ts";

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";
const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const END_OF_FILE = "*** End of File";

/** `*** Begin Patch`, then for each file a header and its lines, then `*** End Patch`. */
export function parseEnvelope(lines: readonly string[]): ParsedPatch {
  const fail = (at: number, why: string): ParsedPatch => ({ ok: false, line: at + 1, why });
  const begin = lines.findIndex((line) => line.trim() !== "");
  const end = lines.findLastIndex((line) => line.trim() !== "");
  if (lines[begin]?.trim() !== BEGIN) return fail(begin, `The first line must be ${BEGIN}.`);
  if (lines[end]?.trim() !== END) return fail(end, `The last line must be ${END}.`);
  const changes: FileChange[] = [];
  for (let at = begin + 1; at < end; ) {
    const [, kind, path = ""] = HEADER.exec(lines[at] ?? "") ?? [];
    if (kind === undefined) {
      if (lines[at]?.trim() === "") {
        at += 1;
        continue;
      }
      return fail(at, "A file begins with *** Add File:, *** Update File: or *** Delete File: and its path.");
    }
    const stop = bodyEnd(lines, at + 1, end);
    const body = lines.slice(at + 1, stop);
    const read = changeOf(kind, unquotedIfEscaped(path.trim()), body);
    if ("why" in read) return fail(at + 1 + read.at, read.why);
    changes.push(read);
    at = stop;
  }
  if (changes.length === 0) return fail(begin, "The patch names no file.");
  return { ok: true, changes };
}

function bodyEnd(lines: readonly string[], from: number, end: number): number {
  const next = lines.findIndex((line, at) => at >= from && at < end && HEADER.test(line));
  return next === -1 ? end : next;
}

type Fault = { readonly at: number; readonly why: string };

function changeOf(kind: string, path: string, body: readonly string[]): FileChange | Fault {
  const said = body.findLastIndex((line) => line.trim() !== "") + 1;
  if (kind === "Delete") return said === 0 ? { kind: "delete", path } : { at: 0, why: "A deleted file has no lines." };
  if (kind === "Update") return updateOf(path, body);
  const bad = body.slice(0, said).findIndex((line) => !line.startsWith("+"));
  if (bad !== -1) return { at: bad, why: "Every line of an added file begins with +." };
  const text = body.slice(0, said).map((line) => `${line.slice(1)}\n`);
  return { kind: "add", path, text: text.join("") };
}

function updateOf(path: string, body: readonly string[]): FileChange | Fault {
  const moved = MOVE.exec(body[0] ?? "")?.[1]?.trim();
  const to = moved === undefined ? undefined : unquotedIfEscaped(moved);
  const hunks: Hunk[] = [];
  let anchors: string[] = [];
  let open: HunkLines | undefined;
  const close = () => {
    if (open !== undefined && !open.isEmpty) hunks.push(open.end());
    open = undefined;
  };
  const last = body.findLastIndex((line) => line.trim() !== "");
  for (const [at, line] of body.entries()) {
    if (at > last || (at === 0 && to !== undefined)) continue;
    if (line.startsWith("@@")) {
      if (open?.isEmpty !== true) anchors = [];
      close();
      const anchor = line
        .slice(2)
        .replace(/@@\s*$/, "")
        .trim();
      if (anchor !== "") anchors.push(anchor);
      open = new HunkLines([...anchors]);
      continue;
    }
    if (open === undefined && line === "") continue;
    open ??= new HunkLines([]);
    if (line.trimEnd() === END_OF_FILE) {
      open.endFile();
      continue;
    }
    if (!open.take(line)) return { at, why: "A line of a hunk begins with a space, - or +." };
  }
  close();
  if (hunks.length === 0 && to === undefined) return { at: 0, why: `The update of ${shownName(path)} has no lines.` };
  return { kind: "update", path, hunks, ...(to === undefined ? {} : { to }) };
}
