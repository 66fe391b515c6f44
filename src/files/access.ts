import { HoldfastError } from "../base/errors.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import type { Branch } from "../state/branch.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import { filesystemOver } from "./filesystem.ts";
import { filesPart } from "./part.ts";
import { treeLayer } from "./tree-layer.ts";
import type { TreeFolder } from "./tree.ts";

/** The files as one call sees and changes them. */
export function filesOnBranch(branch: Branch, use: <T>(what: string, work: () => T) => T): Filesystem {
  return filesystemOver(
    treeLayer({
      look: (what, see) =>
        use("files", () => {
          const saw = branch.look(filesPart, what, see, (then, now) => then === now);
          return { saw, tree: branch.peek(filesPart) };
        }),
      peek: () => use("files", () => branch.peek(filesPart)),
      change: (redo) => use("files", () => branch.change(filesPart, redo)),
    }),
  );
}

/** The files as they are now, for code that stands outside a call. A change is true when its promise resolves. */
export function filesOf(state: ExecutionState): Filesystem {
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
