import { resolve } from "node:path";
import type { Store } from "../contracts/store.ts";
import { copyWorkspace } from "../files/host/copy.ts";
import type { Disk } from "../files/host/disk.ts";
import { ABSENT, type HostEntry, sameEntry } from "../files/host/entry.ts";
import { stage, WORKSPACE_PART, workspacePart, type WorkspaceValue } from "../files/host/part.ts";
import type { HostPart } from "../files/host/session.ts";
import { namesIn } from "../files/path.ts";
import { entriesOf, lookUp } from "../files/sorted-map.ts";
import { readBlob } from "../journal/blobs.ts";
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

/** Copies the workspace as it was at the boundary into a folder of the fork's own. */
export async function copyFor(
  store: Store,
  disk: Disk,
  folder: string,
  entries: ReadonlyMap<string, HostEntry>,
): Promise<void> {
  const changed = new Map<string, HostEntry>();
  for (const [path, entry] of entries) if (!sameEntry(await disk.entry(namesIn(path)), entry)) changed.set(path, entry);
  await copyWorkspace(disk, resolve(folder), changed, ({ digest }) => readBlob(store, digest));
}

/**
 * Lays what the origin's paths held above the folder, and keeps the content under the fork's own name: from now on neither
 * the origin's next change nor its retention reaches these files.
 */
export async function layOver(
  { truth }: ExecutionState,
  part: HostPart,
  entries: ReadonlyMap<string, HostEntry>,
): Promise<void> {
  const { disk } = part.host;
  const found: { readonly path: string; readonly entry: HostEntry; readonly there: HostEntry }[] = [];
  for (const [path, entry] of entries) found.push({ path, entry, there: await disk.entry(namesIn(path)) });
  await truth.change(
    (branch) =>
      branch.change(part, (value) =>
        found.reduce((now, { path, entry, there }) => {
          const seen = { before: lookUp(now.paths, path), from: entry.kind === "absent" ? there : ABSENT };
          const lies = entry.kind === "file" && sameEntry(there, entry);
          return stage(now, path, entry, seen, lies ? { at: path } : undefined);
        }, value),
      ),
    "files as at the fork",
  );
}
