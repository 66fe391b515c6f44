import { resolve } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import type { Store } from "../contracts/store.ts";
import { syncDisk } from "../exec/sync-disk.ts";
import { type Copied, copyWorkspace } from "../files/host/copy.ts";
import type { Disk } from "../files/host/disk.ts";
import { ABSENT, type HostEntry, sameEntry } from "../files/host/entry.ts";
import { inOurWords, readError } from "../files/host/failures.ts";
import { stage, WORKSPACE_PART, workspacePart, type WorkspaceValue } from "../files/host/part.ts";
import type { HostPart } from "../files/host/session.ts";
import { namesIn } from "../files/path.ts";
import { entriesOf, lookUp } from "../files/sorted-map.ts";
import { hasBlob, readBlob } from "../journal/blobs.ts";
import { readEntries } from "../journal/read.ts";
import type { SessionId } from "../records/ids.ts";
import type { ExecutionState } from "../state/execution-state.ts";
import type { RootDelta } from "../state/part.ts";

/** Where a fork's files lie: in a folder of its own, above the original's and never written, or only to be read. */
export type ForkWorkspace = "memory" | (string & {}) | undefined;

/** What a path held at the boundary a fork begins at, for every path its origin changed before or after it. */
export async function entriesAt(
  store: Store,
  origin: SessionId,
  after: number,
  then: WorkspaceValue,
): Promise<ReadonlyMap<string, HostEntry>> {
  let now = then;
  for await (const entry of readEntries(store, origin, { from: after + 1 })) {
    if (entry.kind !== "state-changed") continue;
    const delta = (entry.delta as RootDelta)[WORKSPACE_PART];
    if (delta !== undefined) now = workspacePart.apply(now, delta);
  }
  const entries = new Map<string, HostEntry>([...entriesOf(then.paths)].map(([path, touched]) => [path, touched.now]));
  for (const [path, touched] of entriesOf(now.paths))
    if (lookUp(then.paths, path) === undefined) entries.set(path, touched.was);
  return entries;
}

/** A path with what it held at the boundary and what it holds now. */
interface Compared {
  readonly path: string;
  readonly entry: HostEntry;
  readonly there: HostEntry;
}

/**
 * Every path with what lies there now. What a command wrote was never copied: as long as it lies there it can be, and what
 * nobody has any more is refused by name, because a fork with some of its files would be no fork.
 */
export async function comparedWith(
  store: Store,
  disk: Disk,
  entries: ReadonlyMap<string, HostEntry>,
): Promise<readonly Compared[]> {
  const compared: Compared[] = [];
  const gone: string[] = [];
  const all = await inOurWords(disk.root.path, async () => withFolders(disk, entries), readError);
  for (const [path, entry] of all) {
    const there = await inOurWords(path, () => disk.entry(namesIn(path)), readError);
    compared.push({ path, entry, there });
    if (entry.kind === "file" && !sameContent(there, entry) && !(await hasBlob(store, entry.digest))) gone.push(path);
  }
  if (gone.length > 0) throw new HoldfastError("FILE_GONE", { paths: gone.slice(0, TOLD), all: gone.length });
  return compared;
}

const TOLD = 20;
const NEW_FOLDER = { kind: "folder", mode: 0o755 } as const;

/** What was there lay in folders, whoever has removed one since or put something else in its place. */
function withFolders(disk: Disk, entries: ReadonlyMap<string, HostEntry>): ReadonlyMap<string, HostEntry> {
  const all = new Map(entries);
  const seen = new Set<string>();
  for (const [path, { kind }] of entries) {
    if (kind === "absent") continue;
    for (let names = namesIn(path).slice(0, -1); names.length > 0; names = names.slice(0, -1)) {
      const folder = names.join("/");
      if (seen.has(folder)) break;
      seen.add(folder);
      const there = disk.stat(names);
      if (all.get(folder)?.kind === "folder" || (there?.kind === "folder" && !all.has(folder))) continue;
      all.set(folder, there?.kind === "folder" ? { kind: "folder", mode: there.mode } : NEW_FOLDER);
    }
  }
  return all;
}

/** Copies the workspace as it was at the boundary into a folder of the fork's own. */
export async function copyFor(
  store: Store,
  disk: Disk,
  folder: string,
  compared: readonly Compared[],
): Promise<Copied> {
  const changed = compared.filter(({ entry, there }) => !sameEntry(there, entry));
  const at = new Map(changed.map(({ path, entry }) => [path, entry]));
  const lying = new Map(changed.map(({ path, there }) => [path, there]));
  const content = (entry: HostEntry & { readonly kind: "file" }, path: string) => {
    const there = lying.get(path);
    // Only its mode or its owner is another by now.
    if (there !== undefined && sameContent(there, entry)) return disk.stream(namesIn(path));
    return readBlob(store, entry.digest);
  };
  return copyWorkspace(disk, resolve(folder), at, content, syncDisk);
}

function sameContent(there: HostEntry, entry: HostEntry & { readonly kind: "file" }): boolean {
  return there.kind === "file" && there.digest === entry.digest;
}

/**
 * Lays what the origin's paths held above the folder, and keeps the content under the fork's own name: from now on neither
 * the origin's next change nor its retention reaches these files.
 */
export async function layOver({ truth }: ExecutionState, part: HostPart, compared: readonly Compared[]): Promise<void> {
  await truth.change(
    (branch) =>
      branch.change(part, (value) =>
        compared.reduce((now, { path, entry, there }) => {
          const seen = { before: lookUp(now.paths, path), from: entry.kind === "absent" ? there : ABSENT };
          const lies = entry.kind === "file" && sameContent(there, entry);
          return stage(now, path, entry, seen, lies ? { at: path } : undefined);
        }, value),
      ),
    "files as at the fork",
  );
}
