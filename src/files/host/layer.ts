import { HoldfastError } from "../../base/errors.ts";
import type { Bytes, ByteSource } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import { refuseLarge } from "../filesystem.ts";
import { type FileLayer, NEW_FILE_MODE } from "../layer.ts";
import { lookUp } from "../sorted-map.ts";
import { ABSENT, bytesIn, type HostEntry } from "./entry.ts";
import { inOurWords, readError } from "./failures.ts";
import { type StagedContent, stage, type WorkspaceValue } from "./part.ts";
import type { HostSession } from "./session.ts";
import { childrenIn, View } from "./view.ts";

const NEW_FOLDER: HostEntry = { kind: "folder", mode: 0o755 };
const NEW_FILE = { mode: NEW_FILE_MODE } as const;
const ANYBODY_WRITES = 0o222;

/** How a call, or code outside any call, looks at what the session did and adds to it. */
export interface ValueAccess {
  /** Remembers what was asked, to be compared at the commit. Only the session's own calls are compared: see `seen`. */
  look(what: string, see: (value: WorkspaceValue) => unknown): void;
  peek(): WorkspaceValue;
  change(redo: (value: WorkspaceValue) => WorkspaceValue): Promise<void> | void;
  /** What this call found on the disk when it first looked. What it writes must still find it so. */
  readonly seen?: Map<string, HostEntry>;
  /** Hears of content that waits in a file of ours for a commit that is still to come. Without it, every change is one. */
  waits?(file: string): void;
}

interface Change {
  readonly path: string;
  readonly to: HostEntry;
  readonly from: HostEntry;
  readonly content?: StagedContent;
}

interface Found extends Change {
  readonly names: readonly string[];
}

/** The workspace under a call's own changes. Nothing it does touches the disk: that is the commit's affair. */
export function hostLayer(host: HostSession, access: ValueAccess): FileLayer {
  return typed(untypedLayer(host, access));
}

/** Whatever the system says, also while somebody moves things under our feet, is said in our words. */
function typed(layer: FileLayer): FileLayer {
  const guard =
    <A extends readonly unknown[], R>(work: (names: readonly string[], ...rest: A) => Promise<R>) =>
    (names: readonly string[], ...rest: A): Promise<R> =>
      inOurWords(names.join("/"), () => work(names, ...rest), readError);
  return {
    limits: layer.limits,
    at: guard((names, follow: boolean) => layer.at(names, follow)),
    place: guard((names) => layer.place(names)),
    list: guard((names) => layer.list(names)),
    read: guard((names) => layer.read(names)),
    stream: async function* (names, range) {
      try {
        yield* layer.stream(names, range);
      } catch (error) {
        throw readError(error, names.join("/"));
      }
    },
    digest: guard((names) => layer.digest(names)),
    write: guard((names, bytes: Bytes) => layer.write(names, bytes)),
    writeStream: guard((names, source: ByteSource) => layer.writeStream(names, source)),
    chmod: guard((names, mode: number) => layer.chmod(names, mode)),
    link: guard((names, target: string) => layer.link(names, target)),
    mkdir: guard((names) => layer.mkdir(names)),
    remove: guard((names) => layer.remove(names)),
    move: guard((names, to: readonly string[]) => layer.move(names, to)),
  };
}

function untypedLayer(host: HostSession, access: ValueAccess): FileLayer {
  const { disk, limits } = host;
  const view = () => new View(host, access.peek());
  const remember = (path: string) => access.look(`file ${path}`, (value) => lookUp(value.paths, path));
  const locate = (path: readonly string[], follow: boolean) => {
    remember(path.join("/"));
    const found = view().locate(path, follow, remember);
    remember(found.names.join("/"));
    if (found.node === undefined) see(found.names.join("/"), ABSENT);
    return found;
  };
  const see = (path: string, entry: HostEntry): HostEntry => {
    const before = access.seen?.get(path);
    if (before === undefined && view().above(path) === undefined) access.seen?.set(path, entry);
    return before ?? entry;
  };
  /** What a path holds before a change, as far as this call knows; read from the disk when it does not. */
  const before = async (names: readonly string[]): Promise<HostEntry> => {
    const path = names.join("/");
    const entry = view().above(path)?.now ?? access.seen?.get(path) ?? see(path, await disk.entry(names));
    refuseLarge({ limits }, path, bytesIn(entry));
    return entry;
  };
  const change = async (changes: readonly Change[]): Promise<void> => {
    if (host.mode === "read-only") throw new HoldfastError("FILES_READ_ONLY", { path: changes[0]?.path ?? "" });
    refuseMany(changes, limits);
    const { paths } = access.peek();
    const befores = new Map(changes.map(({ path }) => [path, lookUp(paths, path)]));
    await access.change((value) =>
      changes.reduce((now, { path, to, from, content }) => {
        return stage(now, path, to, { before: befores.get(path), from }, content);
      }, value),
    );
  };
  /** The folders that are missing on the way to a path. */
  const foldersTo = async (names: readonly string[]): Promise<readonly Change[]> => {
    const made: Change[] = [];
    for (let depth = 1; depth < names.length; depth += 1) {
      const [folder, path] = [names.slice(0, depth), names.slice(0, depth).join("/")];
      const node = view().node(folder);
      if (node === undefined) made.push({ path, from: await before(folder), to: NEW_FOLDER });
      else if (node.kind !== "folder") throw new HoldfastError("FILE_NOT_FOLDER", { path });
    }
    return made;
  };
  /** Content too large to hold waits in a file of ours, until it is decided about what is done with it. */
  const keeping = async (work: (keep: HostSession["keep"]) => Promise<void>): Promise<void> => {
    access.peek(); // nothing is written for a call that has ended
    const files: string[] = [];
    const keep = async (source: ByteSource, path: string) => {
      const staged = await host.keep(source, path);
      if (access.waits === undefined) files.push(staged.file);
      else access.waits(staged.file);
      return staged;
    };
    try {
      await work(keep);
    } finally {
      for (const file of files) host.letGo(file);
    }
  };
  const writeContent = async (
    names: readonly string[],
    what: Pick<HostEntry & { readonly kind: "file" }, "digest" | "size">,
    content: StagedContent,
  ): Promise<void> => {
    const path = names.join("/");
    const from = await before(names);
    const folders = from.kind === "file" ? [] : await foldersTo(names); // it lies in one
    refuseProtected(from, path);
    const { mode, owner } = from.kind === "file" ? from : { ...NEW_FILE, owner: undefined };
    const to: HostEntry = { kind: "file", ...what, mode, ...(owner === undefined ? {} : { owner }) };
    await change([...folders, { path, from, to, content }]);
  };
  /**
   * Where the content of a file waits when it gets another name or mode; undefined when it is kept under its own. What a
   * command left is trusted at the path and with the mode that it was left with, so it is taken from there.
   */
  const contentOf = async (path: string, keep: HostSession["keep"]): Promise<StagedContent | undefined> => {
    const above = view().above(path);
    if (above === undefined) return { at: path };
    const content = above.staged?.content;
    const waits = content !== undefined && !("lies" in content) && !("placed" in content);
    if (waits || host.mode !== "host") return content;
    return { file: (await keep(view().content(above, path), path)).file };
  };
  /** Everything at and below a path, the deepest last. Into one list: a folder may hold more than a call has arguments. */
  const all = async (names: readonly string[], found: Found[] = []): Promise<readonly Found[]> => {
    const path = names.join("/");
    const node = view().node(names);
    if (node?.kind === "other")
      throw new HoldfastError("FILE_NOT_COVERED", { path, holds: "a pipe, socket or device" });
    const from = await before(names);
    found.push({ path, names, from, to: ABSENT });
    if (found.length > limits.paths) refuseMany(found, limits);
    if (from.kind !== "folder") return found;
    const hidden = disk.hidden(names);
    if (hidden > 0)
      throw new HoldfastError("FILE_NOT_COVERED", { path, holds: "names that are no text, or ours", hidden });
    for (const { name } of view().list(names)) await all([...names, name], found);
    return found;
  };
  const bytesOf = async (names: readonly string[]): Promise<Bytes> => {
    const path = names.join("/");
    remember(path);
    const above = view().above(path);
    if (above !== undefined) return Buffer.concat(await gathered(view().content(above, path)));
    const found = await disk.file(names, limits.file);
    if (found === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
    if (found.bytes === undefined) refuseLarge({ limits }, path, found.entry.size);
    see(path, found.entry);
    return found.bytes ?? new Uint8Array();
  };
  return {
    limits: { file: limits.file },
    at: async (path, follow) => locate(path, follow),
    place: async (path) => view().locate(path, true),
    list: async (names) => {
      access.look(`list ${names.join("/")}`, (value) =>
        [...childrenIn(value, names)].map(([name, , { now }]) => `${name}\0${now.kind}`).join("\0\0"),
      );
      return view().list(names);
    },
    read: bytesOf,
    stream: async function* (names, range) {
      const path = names.join("/");
      remember(path);
      const above = view().above(path);
      yield* above === undefined ? disk.stream(names, range) : view().content(above, path, range);
    },
    digest: async (names) => {
      const above = view().above(names.join("/"));
      const entry = above?.now ?? (await disk.file(names, 0))?.entry;
      if (entry?.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path: names.join("/") });
      return entry.digest;
    },
    write: (names, bytes) => writeContent(names, { digest: nameOfBytes(bytes), size: bytes.length }, { bytes }),
    writeStream: (names, source) =>
      keeping(async (keep) => {
        const { file, digest, size } = await keep(source, names.join("/"));
        await writeContent(names, { digest, size }, { file });
      }),
    chmod: (names, mode) =>
      keeping(async (keep) => {
        const path = names.join("/");
        const from = await before(names);
        if (from.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path });
        const content = await contentOf(path, keep);
        const to = { ...from, mode: (from.mode & ~0o777) | mode };
        await change([{ path, from, to, ...(content === undefined ? {} : { content }) }]);
      }),
    link: async (names, target) => {
      const folders = await foldersTo(names);
      await change([...folders, { path: names.join("/"), from: await before(names), to: { kind: "link", target } }]);
    },
    mkdir: async (names) => {
      const folders = await foldersTo(names);
      await change([...folders, { path: names.join("/"), from: await before(names), to: NEW_FOLDER }]);
    },
    remove: async (names) => change(await all(names)),
    move: (from, to) =>
      keeping(async (keep) => {
        const folders = await foldersTo(to);
        const sources = await all(from);
        const targets: Change[] = [];
        for (const { path, names, from: entry } of sources) {
          const place = [...to, ...names.slice(from.length)];
          const content = entry.kind === "file" ? await contentOf(path, keep) : undefined;
          const held = content === undefined ? {} : { content };
          targets.push({ path: place.join("/"), from: await before(place), to: entry, ...held });
        }
        await change([...sources, ...folders, ...targets]);
      }),
  };
}

function refuseProtected(from: HostEntry, path: string): void {
  // Replacing a file needs no permission on it; its owner took that away for a reason.
  if (from.kind === "file" && (from.mode & ANYBODY_WRITES) === 0) throw new HoldfastError("FILE_PROTECTED", { path });
}

function refuseMany(changes: readonly Change[], limits: HostSession["limits"]): void {
  const bytes = changes.reduce((sum, { from, to }) => sum + bytesIn(from) + bytesIn(to), 0);
  if (changes.length > limits.paths || bytes > limits.call)
    throw new HoldfastError("FILE_CHANGE_TOO_LARGE", {
      paths: changes.length,
      bytes,
      mostPaths: limits.paths,
      mostBytes: limits.call,
    });
}

async function gathered(pieces: AsyncIterable<Bytes>): Promise<readonly Bytes[]> {
  const all: Bytes[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}
