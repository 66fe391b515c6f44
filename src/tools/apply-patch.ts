import { shownName } from "../base/shown-name.ts";
import { type Call, defineTool, type Failure, type FileKind, HoldfastError, type Tool } from "../index.ts";
import { argumentsOf, text } from "./arguments.ts";
import { misplaced, plainPath } from "./look.ts";
import { applyHunks } from "./patch/apply.ts";
import type { FileChange } from "./patch/change.ts";
import { parsePatch } from "./patch/parse.ts";

/** Changes to several files, all of them or none. Lines must stand as the patch says: nothing is fitted in nearby. */
export function applyPatchTool(): Tool {
  return defineTool({
    name: "apply_patch",
    description:
      "Change several files of the workspace at once. Either the whole patch is applied, or nothing. It is a unified diff, or\n" +
      "*** Begin Patch\n*** Update File: path\n@@ a line somewhere before the change\n unchanged line\n-old line\n+new line\n" +
      "*** Add File: path\n+line\n*** Delete File: path\n*** End Patch\n" +
      "Lines must match the file exactly. `*** Move to: path` after an Update File line moves the file.",
    access: "write",
    ...argumentsOf({ patch: text("The whole patch.") }),
    run: async ({ patch }, call) => {
      const parsed = parsePatch(patch);
      if (!parsed.ok) return call.fail("bad-patch", `Line ${parsed.line} of the patch: ${parsed.why}`);
      const changes = parsed.changes.map(withPlainPaths);
      const twice = repeated(changes);
      if (twice !== undefined)
        return call.fail("bad-patch", `The patch names ${shownName(twice)} twice. Put its hunks together.`);
      const faults: string[] = [];
      for (const given of parsed.changes.flatMap(madeBy)) {
        const fault = await misplaced(call, given);
        if (fault !== undefined) faults.push(`${shownName(given)}: ${fault}`);
      }
      for (const change of changes) faults.push(...(await lookAt(call, change)).faults);
      if (faults.length > 0) return failed(call, faults);
      const done: string[] = [];
      for (const change of changes) {
        // Looked at again: a change above it may have been to the same file, by another of its names.
        const { faults: now, text } = await lookAt(call, change);
        if (now.length > 0) return failed(call, now);
        done.push(await carryOut(call, change, text));
      }
      return done.join("\n");
    },
  });
}

function failed(call: Call, faults: readonly string[]): Failure {
  return call.fail("patch-failed", `Nothing was changed.\n${faults.join("\n")}`);
}

interface Looked {
  /** What stands in the way of the change. */
  readonly faults: readonly string[];
  /** What the file holds after it, when the patch says lines. */
  readonly text?: string;
}

/** Nothing is changed yet: when any change cannot be made, none is. */
async function lookAt({ files }: Call, change: FileChange): Promise<Looked> {
  const stopped = (...faults: readonly string[]) => ({
    faults: faults.map((fault) => `${shownName(change.path)}: ${fault}`),
  });
  const { kind, path } = change;
  try {
    const there = await kindAt(files, path);
    if (kind === "add")
      return there === undefined ? stopped() : stopped("already exists. Update it, or delete it first.");
    if (there === undefined) return stopped("does not exist.");
    if (there === "folder") return stopped("is a folder.");
    if (kind === "update" && change.to !== undefined && (await kindAt(files, change.to)) !== undefined)
      return stopped(`cannot be moved: ${shownName(change.to)} already exists.`);
    const { hunks = [] } = change;
    if (hunks.length === 0) return stopped();
    const applied = applyHunks(await files.readText(path), hunks);
    if (!applied.ok) return stopped(...applied.faults);
    if (kind === "delete" && applied.text !== "") return stopped("has more lines than the patch deletes.");
    return { faults: [], text: applied.text };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return stopped(error.message);
  }
}

/** A link is what it is, also when it leads nowhere. */
async function kindAt(files: Call["files"], path: string): Promise<FileKind | undefined> {
  try {
    return (await files.stat(path)).kind;
  } catch (error) {
    if (HoldfastError.is(error, "FILE_NOT_FOUND")) return undefined;
    throw error;
  }
}

async function carryOut({ files }: Call, change: FileChange, text: string | undefined): Promise<string> {
  const { kind, path } = change;
  if (kind === "delete") {
    await files.delete(path);
    return `Deleted ${shownName(path)}.`;
  }
  if (kind === "add") await files.writeText(path, change.text);
  else if (change.to !== undefined) await files.move(path, change.to);
  const at = kind === "update" ? (change.to ?? path) : path;
  if (text !== undefined) await files.writeText(at, text);
  if (change.mode !== undefined) await files.chmod(at, change.mode);
  if (kind === "add") return `Added ${shownName(path)}.`;
  return change.to === undefined
    ? `Updated ${shownName(path)}.`
    : `Moved ${shownName(path)} to ${shownName(change.to)}.`;
}

/** Where it makes a file. */
function madeBy(change: FileChange): readonly string[] {
  if (change.kind === "add") return [change.path];
  return change.kind === "update" && change.to !== undefined ? [change.to] : [];
}

function withPlainPaths(change: FileChange): FileChange {
  const path = plainPath(change.path);
  return change.kind === "update" && change.to !== undefined
    ? { ...change, path, to: plainPath(change.to) }
    : { ...change, path };
}

function repeated(changes: readonly FileChange[]): string | undefined {
  const seen = new Set<string>();
  for (const change of changes)
    for (const path of [change.path, ...(change.kind === "update" && change.to !== undefined ? [change.to] : [])]) {
      if (seen.has(path)) return path;
      seen.add(path);
    }
  return undefined;
}
