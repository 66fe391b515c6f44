import { HoldfastError } from "../base/errors.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import type { Branch, Stretch } from "../state/branch.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { filesystemOver } from "./filesystem.ts";
import type { HostEntry } from "./host/entry.ts";
import { hostLayer } from "./host/layer.ts";
import { WORKSPACE_PART, type WorkspaceValue } from "./host/part.ts";
import { isHostPart } from "./host/session.ts";
import { filesPart } from "./part.ts";
import type { TreeFolder } from "./tree.ts";
import { treeLayer } from "./tree-layer.ts";

type Use = <T>(what: string, work: (by?: Stretch) => T) => T;

/** The files as one call sees and changes them: the workspace where there is one, else those in memory. */
export function filesOnBranch(branch: Branch, use: Use): Filesystem {
  const workspace = branch.part(WORKSPACE_PART);
  if (!isHostPart(workspace)) return treeOnBranch(branch, use);
  const seen = seenBy(branch);
  if (!waitingOn.has(branch)) waitingOn.set(branch, []);
  return filesystemOver(
    hostLayer(workspace.host, {
      look: (what, see) => use("files", () => branch.look(workspace, what, see, (then, now) => then === now)),
      peek: () => use("files", () => branch.peek(workspace)),
      change: (redo) => use("files", (by) => branch.change(workspace, redo, by)),
      waits: (file) => waitsOn(branch, () => workspace.host.letGo(file)),
      seen,
    }),
  );
}

/** What calls have written and was too large to hold, in files of ours: how each is let go of. */
const waitingOn = new WeakMap<Branch, (() => void)[] | "over">();

function waitsOn(branch: Branch, letGo: () => void): void {
  const waiting = waitingOn.get(branch);
  if (waiting === undefined || waiting === "over")
    letGo(); // its call ended while it was written
  else waiting.push(letGo);
}

/** It was decided about what was done on the branch: nothing of it waits any more, and nothing will. */
export function endFiles(branch: Branch): void {
  const waiting = waitingOn.get(branch);
  if (waiting === undefined || waiting === "over") return; // most calls write nothing of that size
  waitingOn.set(branch, "over");
  for (const letGo of waiting) letGo();
}

/** The current files of a state, for code outside a call. A change is made when its promise resolves. */
export function filesOf(state: ExecutionState): Filesystem {
  const workspace = state.truth.parts.get(WORKSPACE_PART);
  if (!isHostPart(workspace)) return treeOf(state);
  return filesystemOver(
    hostLayer(workspace.host, {
      look: () => {},
      peek: () => state.root.get(WORKSPACE_PART) as WorkspaceValue,
      change: (redo) => state.truth.change((branch) => branch.change(workspace, redo), "files changed"),
    }),
  );
}

/** What a call has found on the disk, whichever of its handles looked. */
const seenOn = new WeakMap<Branch, Map<string, HostEntry>>();

function seenBy(branch: Branch): Map<string, HostEntry> {
  const seen = seenOn.get(branch) ?? new Map<string, HostEntry>();
  seenOn.set(branch, seen);
  return seen;
}

function treeOnBranch(branch: Branch, use: Use): Filesystem {
  return filesystemOver(
    treeLayer({
      look: (what, see) =>
        use("files", () => {
          const saw = branch.look(filesPart, what, see, (then, now) => then === now);
          return { saw, tree: branch.peek(filesPart) };
        }),
      peek: () => use("files", () => branch.peek(filesPart)),
      change: (redo) => use("files", (by) => branch.change(filesPart, redo, by)),
    }),
  );
}

function treeOf(state: ExecutionState): Filesystem {
  if (!state.truth.parts.has(filesPart.name)) throw new HoldfastError("SLICE_UNKNOWN", { slice: filesPart.name });
  const now = () => state.root.get(filesPart.name) as TreeFolder;
  return filesystemOver(
    treeLayer({
      look: (_, see) => ({ saw: see(now()), tree: now() }),
      peek: now,
      change: (redo) => state.truth.change((branch) => branch.change(filesPart, redo), "files changed"),
    }),
  );
}
