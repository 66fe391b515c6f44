import { HoldfastError } from "../base/errors.ts";
import type { StagedChange, StagedDifference } from "../files/host/aside.ts";
import { ABSENT, type HostEntry, sameEntry } from "../files/host/entry.ts";
import { layInto } from "../files/host/lay.ts";
import { stage, type Touched, WORKSPACE_PART, type WorkspaceValue } from "../files/host/part.ts";
import type { HostPart } from "../files/host/session.ts";
import { View } from "../files/host/view.ts";
import type { Workspace } from "../files/host/workspace.ts";
import { namesIn } from "../files/path.ts";
import { differences, lookUp } from "../files/sorted-map.ts";
import type { Branch } from "../state/branch.ts";
import type { Enclosure } from "./driver.ts";

/** A path that the call has changed. */
interface StagedPath {
  readonly path: string;
  readonly touched: Touched;
  readonly staged: NonNullable<Touched["staged"]>;
}

/** The files of one call on their way between its branch and the tree in which its commands run. */
export class CommandFiles {
  readonly #workspace: Workspace;
  readonly #branch: Branch;
  /** What the newest command left otherwise than it was before the first. */
  #left: ReadonlyMap<string, HostEntry> = new Map();

  constructor(workspace: Workspace, branch: Branch) {
    this.#workspace = workspace;
    this.#branch = branch;
  }

  /** What the call has written before is there for its command to find. */
  async lay(enclosure: Enclosure, part: HostPart): Promise<void> {
    const now = this.#branch.peek(part);
    const fresh = this.#staged(now).filter((one) => !isLeft(one, enclosure.id));
    if (fresh.length === 0) return;
    const isInPlace = enclosure.inside === this.#workspace.path;
    const expected = new Map(fresh.map(({ path, staged }) => [path, this.#left.get(path) ?? staged.from]));
    if (isInPlace) await refuseTheirs(part, expected);
    const view = new View(part.host, now);
    const laid = fresh.map(({ path, touched, staged: { content } }) => ({
      path,
      to: touched.now,
      content: () => view.content(touched, path),
      moves: touched.now.kind === "file" && (content === undefined || "at" in content),
    }));
    const ground = { workspace: this.#workspace.execs.ground, exec: enclosure.id, inside: enclosure.inside };
    const checked = isInPlace ? { expected: (path: string) => expected.get(path) ?? ABSENT } : {};
    await layInto({ ...ground, ...checked }, laid);
  }

  /** What they did is the call's own change from here on; what an earlier one did and this one undid is none. */
  stage(part: HostPart, { changes }: StagedDifference): void {
    const now = this.#branch.peek(part);
    this.#left = new Map(changes.map(({ path, to }) => [path, to]));
    const changed = new Set(changes.map(({ path }) => path));
    const undone = this.#staged(now).flatMap(({ path, staged: { from } }) =>
      changed.has(path) ? [] : [{ path, from, to: from, content: { at: path } }],
    );
    const all: readonly StagedChange[] = [...undone, ...changes];
    if (all.length === 0) return;
    const befores = new Map(all.map(({ path }) => [path, lookUp(now.paths, path)]));
    this.#branch.change(part, (value: WorkspaceValue) =>
      all.reduce(
        (next, { path, from, to, content }) => stage(next, path, to, { before: befores.get(path), from }, content),
        value,
      ),
    );
  }

  #staged(now: WorkspaceValue): readonly StagedPath[] {
    const base = this.#branch.base.get(WORKSPACE_PART) as WorkspaceValue;
    return [...differences(base.paths, now.paths)].flatMap(({ key: path, after: touched }) =>
      touched?.staged === undefined ? [] : [{ path, touched, staged: touched.staged }],
    );
  }
}

/** The files themselves are about to be replaced: somebody else's would be gone, and nobody would have said so. */
async function refuseTheirs({ host: { disk } }: HostPart, expected: ReadonlyMap<string, HostEntry>): Promise<void> {
  for (const [path, entry] of expected)
    if (!sameEntry(await disk.entry(namesIn(path), entry), entry))
      throw new HoldfastError("FILE_CONFLICT", { path, found: "changed by somebody else" });
}

/** It is in the tree as it is to be: a command left it so, or undid what was done to it. */
function isLeft({ path, touched: { now }, staged: { from, content } }: StagedPath, id: string): boolean {
  if (content === undefined) return false;
  if ("at" in content) return content.at === path && sameEntry(from, now);
  return ("lies" in content && content.exec === id) || ("placed" in content && content.placed === id);
}
