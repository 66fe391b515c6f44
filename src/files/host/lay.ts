import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import { byPath } from "../by-path.ts";
import { namesIn } from "../path.ts";
import { type HostEntry, sameEntry } from "./entry.ts";
import type { ExecGround } from "./exec-place.ts";
import { type Folder, HostRoot } from "./folders.ts";
import { PLACES, writeAll } from "./meta.ts";
import { OWNER_ALL } from "./modes.ts";
import type { HostPort } from "./port.ts";
import { putBack } from "./put-back.ts";
import { piecesIn } from "./read-file.ts";
import { stageFile } from "./staging.ts";

/** A path, what is to be there, and its content when it is a file. */
export interface Laid {
  readonly path: string;
  readonly to: HostEntry;
  readonly content: () => AsyncIterable<Bytes>;
  /** Its content lies in the tree, under a name that may be about to go. */
  readonly moves: boolean;
}

/** The tree as the commands see it, and the folder of ours that is theirs. */
export interface LayGround {
  readonly workspace: ExecGround;
  readonly exec: string;
  readonly inside: string;
  /** What a path must still hold, when it is the files themselves that are replaced. */
  readonly expected?: (path: string) => HostEntry;
}

/** Puts what a call has staged where its command will look for it. Nobody else sees that place, or it is protected. */
export async function layInto(ground: LayGround, all: readonly Laid[]): Promise<void> {
  const { workspace, exec, inside, expected } = ground;
  const root = new HostRoot(workspace.root.port, inside);
  const up = all.toSorted(byPath);
  try {
    await workspace.root.inside([...PLACES.exec, exec], async (aside) => {
      const ready: Laid[] = [];
      for (const [at, one] of up.entries()) ready.push(one.moves ? await takenOut(root.port, aside, at, one) : one);
      for (const [at, { path }] of [...up.entries()].toReversed())
        if (expected === undefined) remove(root, path);
        else await takeAway(workspace, path, expected(path), `${exec}-laid-${at}`);
      for (const one of ready) await put(root, one);
      for (const one of up.toReversed()) close(root, one);
    });
  } finally {
    root.close();
  }
}

/** Two files that change places would be gone before either was read. */
async function takenOut(port: HostPort, aside: Folder, number: number, one: Laid): Promise<Laid> {
  const { file } = await stageFile(port, aside, `laid-${number}`, one.content(), () => {});
  return { ...one, content: () => taken(port, aside.at(file)) };
}

async function* taken(port: HostPort, lies: string): AsyncIterable<Bytes> {
  const handle = port.openFile(lies, "read");
  try {
    yield* piecesIn(port, handle);
  } finally {
    port.close(handle);
    port.unlink(lies);
  }
}

/** Whatever is there and is no folder. A folder goes when it is empty by now. */
function remove(root: HostRoot, path: string): void {
  root.withinParent(namesIn(path), (folder, name) => {
    const at = folder.at(name);
    const found = root.port.stat(at);
    if (found === undefined) return;
    if (found.kind !== "folder") root.port.unlink(at);
    else if (root.port.names(at).length === 0) root.port.removeFolder(at);
  });
}

/**
 * The same of the files themselves. Content may have been copied for seconds since they were looked at, so what is taken
 * away is looked at again in rescue, where nobody can swap it: theirs goes back where it was.
 */
async function takeAway(
  { root, disk, places, rescue }: ExecGround,
  path: string,
  expected: HostEntry,
  aside: string,
): Promise<void> {
  const { port } = root;
  await root.withinParent(namesIn(path), async (folder, name) => {
    const [at, taken] = [folder.at(name), places.rescue.at(aside)];
    const found = port.stat(at);
    if (found === undefined) return;
    if (found.kind === "folder" && expected.kind === "folder") return remove(root, path);
    if (found.kind === "folder") throw changed(path);
    folder.mustBeHere();
    port.rename(at, taken);
    // What cannot be read is not what was expected: it is put back, and the change is refused.
    const is = await disk.entry([...PLACES.rescue, aside], expected).catch(() => undefined);
    if (is !== undefined && sameEntry(is, expected)) return port.unlink(taken);
    if (!putBack(port, taken, at)) rescue.note(aside, { path, whose: "theirs" });
    throw changed(path);
  });
}

function changed(path: string): HoldfastError {
  return new HoldfastError("FILE_CONFLICT", { path, found: "changed by somebody else" });
}

async function put(root: HostRoot, { path, to, content }: Laid): Promise<void> {
  if (to.kind === "absent") return;
  await root.insideParent(namesIn(path), async (folder, name) => {
    if (to.kind === "link") root.port.makeLink(to.target, folder.at(name));
    else if (to.kind === "file") await write(root.port, folder, name, to, content());
    else if (root.port.stat(folder.at(name)) === undefined) root.port.makeFolder(folder.at(name), to.mode | OWNER_ALL);
  });
}

/** A folder gets its mode when everything is in it, and not from the system's mask. */
function close(root: HostRoot, { path, to }: Laid): void {
  if (to.kind !== "folder") return;
  root.within(namesIn(path), ({ handle }) => root.port.mode(handle, to.mode));
}

async function write(
  port: HostPort,
  folder: Folder,
  name: string,
  to: HostEntry & { readonly kind: "file" },
  content: AsyncIterable<Bytes>,
): Promise<void> {
  const handle = port.openFile(folder.at(name), "create");
  try {
    let at = 0;
    for await (const piece of content) {
      writeAll(port, handle, piece, at);
      at += piece.length;
    }
    if (to.owner !== undefined) port.owner(handle, ...to.owner);
    port.mode(handle, to.mode);
  } finally {
    port.close(handle);
  }
}
