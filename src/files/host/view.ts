import { HoldfastError } from "../../base/errors.ts";
import type { ByteRange, Bytes } from "../../contracts/blob-store.ts";
import type { FileEntry } from "../../contracts/filesystem.ts";
import type { LayerNode, Located } from "../layer.ts";
import { circles, LINKS_ON_A_PATH, namesOfTarget } from "../links.ts";
import { folderAbove } from "../path.ts";
import { entriesBelow, lookUp } from "../sorted-map.ts";
import { type HostEntry, sameEntry } from "./entry.ts";
import { readError } from "./failures.ts";
import type { StagedContent, Touched, WorkspaceValue } from "./part.ts";
import type { HostSession } from "./session.ts";

/**
 * What one reader sees: what its own call has staged, above what was decided and waits to be applied, above the disk.
 * A session whose files never reach the disk reads all it changed from what was kept.
 */
export class View {
  readonly #host: HostSession;
  readonly value: WorkspaceValue;

  constructor(host: HostSession, value: WorkspaceValue) {
    this.#host = host;
    this.value = value;
  }

  /** What lies above the disk at a path, if anything does. */
  above(path: string): Touched | undefined {
    const touched = lookUp(this.value.paths, path);
    if (touched === undefined || touched.staged !== undefined) return touched;
    return this.#host.mode !== "host" || this.#host.pending.has(path) ? touched : undefined;
  }

  node(names: readonly string[]): LayerNode | undefined {
    const path = names.join("/");
    if (this.#host.disk.isOwn(names))
      throw new HoldfastError("FILE_BAD_PATH", { path, fault: "is where Holdfast keeps what is its own" });
    const above = this.above(path);
    if (above !== undefined) return nodeOf(above.now);
    if (this.isCut(path)) return undefined;
    const found = this.#host.disk.stat(names);
    if (found === undefined) return undefined;
    if (found.kind === "file") return { kind: "file", size: found.size, mode: found.mode & 0o777 };
    return found.kind === "link" ? { kind: "link", target: this.#host.disk.readLink(names) } : { kind: found.kind };
  }

  /** For this reader the folder is gone, or something else lies there, whatever the disk has below its name. */
  isCut(path: string): boolean {
    if (this.value.paths === undefined) return false;
    for (let folder = folderAbove(path); folder !== ""; folder = folderAbove(folder)) {
      const above = this.above(folder);
      if (above !== undefined) return above.now.kind !== "folder";
    }
    return false;
  }

  /** Links on the way are followed, inside the root. `passed` hears of every link. */
  locate(path: readonly string[], follow: boolean, passed: (path: string) => void = () => {}): Located {
    if (!path.some((_, depth) => this.above(path.slice(0, depth).join("/")) !== undefined)) {
      const found = this.node(path);
      // Found without meeting a link: folders are opened name by name, so there is none on the way.
      if (found !== undefined && (found.kind !== "link" || !follow)) return { names: path, node: found };
    }
    let rest = [...path];
    let names: readonly string[] = [];
    for (let links = 0; rest.length > 0; ) {
      const [name = "", ...below] = rest;
      const node = this.node([...names, name]);
      if (node?.kind !== "link" || (below.length === 0 && !follow)) {
        names = [...names, name];
        rest = below;
        continue;
      }
      links += 1;
      if (links > LINKS_ON_A_PATH) throw circles(path.join("/"));
      passed([...names, name].join("/"));
      rest = [...this.#leads(names, node.target, path.join("/")), ...below];
      names = [];
    }
    return { names, node: this.node(names) };
  }

  /** Where a link leads. It may name the root by its full path: inside is inside. */
  #leads(folder: readonly string[], target: string, path: string): readonly string[] {
    const root = `${this.#host.disk.root.path}/`;
    if (target.startsWith(root)) return namesOfTarget([], target.slice(root.length) || ".", path);
    return namesOfTarget(folder, target, path);
  }

  list(names: readonly string[], unnamed?: (count: number) => void): readonly FileEntry[] {
    const found = new Map(this.#host.disk.list(names, unnamed).map((entry) => [entry.name, entry]));
    for (const [name, path] of childrenIn(this.value, names)) {
      const above = this.above(path);
      if (above === undefined) continue;
      if (above.now.kind === "absent") found.delete(name);
      else found.set(name, { name, kind: above.now.kind });
    }
    return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** What a staged or decided file holds, wherever it waits. */
  async *content(touched: Touched, path: string, range?: ByteRange): AsyncIterable<Bytes> {
    const { now, staged } = touched;
    if (now.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path });
    const content = staged?.content;
    if (content === undefined) yield* this.#host.content(now, path, range);
    else yield* this.staged(content, now, path, range);
  }

  async *staged(
    content: StagedContent,
    wanted: HostEntry & { readonly kind: "file" },
    path: string,
    range?: ByteRange,
  ): AsyncIterable<Bytes> {
    try {
      yield* this.#staged(content, wanted, path, range);
    } catch (error) {
      throw readError(error, path); // also when a commit reads it, which no layer stands around
    }
  }

  async *#staged(
    content: StagedContent,
    wanted: HostEntry & { readonly kind: "file" },
    path: string,
    range?: ByteRange,
  ): AsyncIterable<Bytes> {
    if ("bytes" in content) yield content.bytes.subarray(range?.from ?? 0, range?.to ?? content.bytes.length);
    else if ("file" in content) yield* this.#host.kept(content.file, range);
    else if ("lies" in content) yield* this.#host.disk.stream(content.lies.split("/"), range);
    else {
      const source = "at" in content ? content.at : path;
      const now = await this.#host.disk.file(source.split("/"), this.#host.limits.file);
      // What was moved is no longer what it was when it was moved.
      if (now?.bytes === undefined || !sameEntry(now.entry, { ...wanted, mode: now.entry.mode }))
        throw new HoldfastError("FILE_CONFLICT", { path, found: "changed by somebody else", source });
      yield now.bytes.subarray(range?.from ?? 0, range?.to ?? now.bytes.length);
    }
  }
}

/** Names of a folder's own children among what the session touched, with their paths. */
export function* childrenIn(
  { paths }: WorkspaceValue,
  folder: readonly string[],
): Iterable<readonly [string, string, Touched]> {
  const beginning = folder.map((name) => `${name}/`).join("");
  for (const [path, touched] of entriesBelow(paths, beginning)) {
    const name = path.slice(beginning.length);
    if (!name.includes("/")) yield [name, path, touched];
  }
}

function nodeOf(entry: HostEntry): LayerNode | undefined {
  switch (entry.kind) {
    case "absent":
      return undefined;
    case "file":
      return { kind: "file", size: entry.size, mode: entry.mode & 0o777 };
    case "link":
      return { kind: "link", target: entry.target };
    case "folder":
      return { kind: "folder" };
  }
}
