import { type Call, defineTool, HoldfastError, type Tool } from "../index.ts";
import { argumentsOf, text } from "./arguments.ts";
import { plainPath } from "./look.ts";
import { applyHunks } from "./patch/apply.ts";
import type { FileChange } from "./patch/change.ts";
import { parsePatch } from "./patch/parse.ts";

/** What a change comes to: the file as it shall be, or what stands in its way. */
type Planned = { readonly change: FileChange; readonly text?: string } | { readonly faults: readonly string[] };

/** Changes to several files, all of them or none. Lines must stand as the patch says: nothing is fitted in nearby. */
export function applyPatchTool(): Tool {
  return defineTool({
    name: "apply_patch",
    description:
      "Change several files of the workspace at once: all of the patch, or nothing. Either a unified diff, or\n" +
      "*** Begin Patch\n*** Update File: path\n@@ a line somewhere before the change\n unchanged line\n-old line\n+new line\n" +
      "*** Add File: path\n+line\n*** Delete File: path\n*** End Patch\n" +
      "Lines must stand in the file exactly. `*** Move to: path` after an Update File line moves the file.",
    access: "write",
    ...argumentsOf({ patch: text("The whole patch.") }),
    run: async ({ patch }, call) => {
      const parsed = parsePatch(patch);
      if (!parsed.ok) return call.fail("bad-patch", `Line ${parsed.line} of the patch: ${parsed.why}`);
      const changes = parsed.changes.map(withPlainPaths);
      const twice = repeated(changes);
      if (twice !== undefined) return call.fail("bad-patch", `The patch names ${twice} twice. Put its hunks together.`);
      const planned: Planned[] = [];
      for (const change of changes) planned.push(await plan(call, change));
      const faults = planned.flatMap((one) => ("faults" in one ? one.faults : []));
      if (faults.length > 0) return call.fail("patch-failed", `Nothing was changed.\n${faults.join("\n")}`);
      const done: string[] = [];
      for (const one of planned) if ("change" in one) done.push(await carryOut(call, one));
      return done.join("\n");
    },
  });
}

/** Looks at one file and changes nothing: when any of them cannot be changed, none is. */
async function plan(call: Call, change: FileChange): Promise<Planned> {
  const { kind, path } = change;
  const { files } = call;
  try {
    const there = await files.exists(path);
    if (kind === "add")
      return there ? { faults: [`${path}: is there already. Update it, or delete it first.`] } : { change };
    if (!there) return { faults: [`${path}: is not there.`] };
    const before = kind === "delete" ? undefined : await files.readText(path);
    if (kind === "delete" || before === undefined)
      return (await files.stat(path)).kind === "folder" ? { faults: [`${path}: is a folder.`] } : { change };
    if (change.to !== undefined && (await files.exists(change.to)))
      return { faults: [`${path}: ${change.to}, where it shall be moved, is there already.`] };
    const applied = applyHunks(before, change.hunks);
    if (!applied.ok) return { faults: applied.faults.map((fault) => `${path}: ${fault}`) };
    return { change, text: applied.text };
  } catch (error) {
    if (!HoldfastError.is(error)) throw error;
    return { faults: [`${path}: ${error.message}`] };
  }
}

async function carryOut({ files }: Call, { change, text: content = "" }: Extract<Planned, { change: FileChange }>) {
  const { path } = change;
  if (change.kind === "add") {
    await files.writeText(path, change.text);
    return `Added ${path}.`;
  }
  if (change.kind === "delete") {
    await files.delete(path);
    return `Deleted ${path}.`;
  }
  if (change.to !== undefined) await files.move(path, change.to);
  if (change.hunks.length > 0) await files.writeText(change.to ?? path, content);
  return change.to === undefined ? `Updated ${path}.` : `Moved ${path} to ${change.to}.`;
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
