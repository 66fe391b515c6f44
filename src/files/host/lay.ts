import type { Bytes } from "../../contracts/blob-store.ts";
import { namesIn } from "../path.ts";
import type { HostEntry } from "./entry.ts";
import { type Folder, HostRoot } from "./folders.ts";
import { PLACES, writeAll } from "./meta.ts";
import type { HostPort } from "./port.ts";
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
  readonly workspace: HostRoot;
  readonly exec: string;
  readonly inside: string;
}

const OWNER_ALL = 0o700;

/** Puts what a call has staged where its command will look for it. Nobody else sees that place, or it is protected. */
export async function layInto({ workspace, exec, inside }: LayGround, all: readonly Laid[]): Promise<void> {
  const root = new HostRoot(workspace.port, inside);
  const up = all.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  try {
    await workspace.inside([...PLACES.exec, exec], async (aside) => {
      const ready: Laid[] = [];
      for (const [at, one] of up.entries()) ready.push(one.moves ? await takenOut(root.port, aside, at, one) : one);
      for (const { path } of up.toReversed()) remove(root, path);
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
  const names = namesIn(path);
  root.within(names.slice(0, -1), (folder) => {
    const at = folder.at(names.at(-1));
    const found = root.port.stat(at);
    if (found === undefined) return;
    if (found.kind !== "folder") root.port.unlink(at);
    else if (root.port.names(at).length === 0) root.port.removeFolder(at);
  });
}

async function put(root: HostRoot, { path, to, content }: Laid): Promise<void> {
  if (to.kind === "absent") return;
  const names = namesIn(path);
  await root.inside(names.slice(0, -1), async (folder) => {
    const name = names.at(-1) ?? "";
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
