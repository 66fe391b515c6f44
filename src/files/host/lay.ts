import type { Bytes } from "../../contracts/blob-store.ts";
import { namesIn } from "../path.ts";
import type { HostEntry } from "./entry.ts";
import { type Folder, HostRoot } from "./folders.ts";
import { writeAll } from "./meta.ts";
import type { HostPort } from "./port.ts";

/** A path, what is to be there, and its content when it is a file. */
export interface Laid {
  readonly path: string;
  readonly to: HostEntry;
  readonly content: () => AsyncIterable<Bytes>;
}

/** Puts what a call has staged where its command will look for it. Nobody else sees that place, or it is protected. */
export async function layInto(port: HostPort, base: string, all: readonly Laid[]): Promise<void> {
  const root = new HostRoot(port, base);
  const up = all.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  try {
    for (const { path } of up.toReversed()) remove(root, path);
    for (const one of up) await put(root, one);
  } finally {
    root.close();
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
    else if (root.port.stat(folder.at(name)) === undefined) root.port.makeFolder(folder.at(name), to.mode);
  });
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
