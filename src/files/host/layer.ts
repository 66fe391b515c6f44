import { HoldfastError } from "../../base/errors.ts";
import type { ByteRange, Bytes, ByteSource } from "../../contracts/blob-store.ts";
import { nameOfBytes } from "../../records/blob-name.ts";
import type { FileEntry } from "../../contracts/filesystem.ts";
import { refuseLarge } from "../filesystem.ts";
import { type FileLayer, type Located, NEW_FILE_MODE } from "../layer.ts";
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
  return typed(new UntypedLayer(host, access));
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
    list: guard((names, unnamed?: (count: number) => void) => layer.list(names, unnamed)),
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

/** The same, with what the system says still in its own words. */
class UntypedLayer implements FileLayer {
  readonly limits: FileLayer["limits"];
  readonly #host: HostSession;
  readonly #access: ValueAccess;

  constructor(host: HostSession, access: ValueAccess) {
    this.#host = host;
    this.#access = access;
    this.limits = { file: host.limits.file };
  }

  async at(names: readonly string[], follow: boolean): Promise<Located> {
    return this.#locate(names, follow);
  }

  async place(names: readonly string[]): Promise<Located> {
    return this.#view.locate(names, true, (path) => this.#remember(path));
  }

  async list(names: readonly string[], unnamed?: (count: number) => void): ReturnType<FileLayer["list"]> {
    this.#access.look(`list ${names.join("/")}`, (value) =>
      [...childrenIn(value, names)].map(([name, , { now }]) => `${name}\0${now.kind}`).join("\0\0"),
    );
    return this.#view.list(names, unnamed);
  }

  async read(names: readonly string[]): Promise<Bytes> {
    const path = names.join("/");
    this.#remember(path);
    const above = this.#view.above(path);
    if (above !== undefined) return Buffer.concat(await Array.fromAsync(this.#view.content(above, path)));
    const { disk, limits } = this.#host;
    const found = await disk.file(names, limits.file);
    if (found === undefined) throw new HoldfastError("FILE_NOT_FOUND", { path });
    if (found.bytes === undefined) refuseLarge({ limits }, path, found.entry.size);
    this.#see(path, found.entry);
    return found.bytes ?? new Uint8Array();
  }

  async *stream(names: readonly string[], range?: ByteRange): AsyncIterable<Bytes> {
    const path = names.join("/");
    this.#remember(path);
    const above = this.#view.above(path);
    yield* above === undefined ? this.#host.disk.stream(names, range) : this.#view.content(above, path, range);
  }

  async digest(names: readonly string[]): ReturnType<FileLayer["digest"]> {
    const above = this.#view.above(names.join("/"));
    const entry = above?.now ?? (await this.#host.disk.file(names, 0))?.entry;
    if (entry?.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path: names.join("/") });
    return entry.digest;
  }

  write(names: readonly string[], bytes: Bytes): Promise<void> {
    return this.#writeContent(names, { digest: nameOfBytes(bytes), size: bytes.length }, { bytes });
  }

  writeStream(names: readonly string[], source: ByteSource): Promise<void> {
    return this.#keeping(async (keep) => {
      const { file, digest, size } = await keep(source, names.join("/"));
      await this.#writeContent(names, { digest, size }, { file });
    });
  }

  chmod(names: readonly string[], mode: number): Promise<void> {
    return this.#keeping(async (keep) => {
      const path = names.join("/");
      const from = await this.#before(names);
      if (from.kind !== "file") throw new HoldfastError("FILE_NOT_FOUND", { path });
      const content = await this.#contentOf(path, keep);
      const to = { ...from, mode: (from.mode & ~0o777) | mode };
      await this.#change([{ path, from, to, ...(content === undefined ? {} : { content }) }]);
    });
  }

  link(names: readonly string[], target: string): Promise<void> {
    return this.#put(names, { kind: "link", target });
  }

  async mkdir(names: readonly string[]): Promise<void> {
    const isThere = this.#view.node(names) !== undefined;
    this.#relyOnFolder(names.join("/"), isThere);
    if (!isThere) await this.#put(names, NEW_FOLDER);
  }

  async remove(names: readonly string[]): Promise<void> {
    await this.#change(await this.#all(names));
  }

  move(from: readonly string[], to: readonly string[]): Promise<void> {
    return this.#keeping(async (keep) => {
      const folders = await this.#foldersTo(to);
      const sources = await this.#all(from);
      const targets: Change[] = [];
      for (const { path, names, from: entry } of sources) {
        const place = [...to, ...names.slice(from.length)];
        const content = entry.kind === "file" ? await this.#contentOf(path, keep) : undefined;
        const held = content === undefined ? {} : { content };
        targets.push({ path: place.join("/"), from: await this.#before(place), to: entry, ...held });
      }
      await this.#change([...sources, ...folders, ...targets]);
    });
  }

  get #view(): View {
    return new View(this.#host, this.#access.peek());
  }

  #remember(path: string): void {
    this.#access.look(`file ${path}`, (value) => lookUp(value.paths, path));
  }

  #locate(names: readonly string[], follow: boolean): Located {
    this.#remember(names.join("/"));
    const found = this.#view.locate(names, follow, (path) => this.#remember(path));
    this.#remember(found.names.join("/"));
    if (found.node === undefined) this.#see(found.names.join("/"), ABSENT);
    return found;
  }

  #see(path: string, entry: HostEntry): HostEntry {
    const { seen } = this.#access;
    const before = seen?.get(path);
    if (before === undefined && this.#view.above(path) === undefined) seen?.set(path, entry);
    return before ?? entry;
  }

  /** What a path holds before a change, as far as this call knows; read from the disk when it does not. */
  async #before(names: readonly string[]): Promise<HostEntry> {
    const { disk, limits } = this.#host;
    const path = names.join("/");
    const view = this.#view;
    const known = view.above(path)?.now ?? this.#access.seen?.get(path);
    const entry = known ?? this.#see(path, view.isCut(path) ? ABSENT : await disk.entry(names));
    refuseLarge({ limits }, path, bytesIn(entry));
    return entry;
  }

  async #change(changes: readonly Change[]): Promise<void> {
    const { mode, limits } = this.#host;
    if (mode === "read-only") throw new HoldfastError("FILES_READ_ONLY", { path: changes[0]?.path ?? "" });
    refuseMany(changes, limits);
    const { paths } = this.#access.peek();
    const befores = new Map(changes.map(({ path }) => [path, lookUp(paths, path)]));
    await this.#access.change((value) =>
      changes.reduce((now, { path, to, from, content }) => {
        return stage(now, path, to, { before: befores.get(path), from }, content);
      }, value),
    );
  }

  /** Something without content of its own, with the folders that it lies in. */
  async #put(names: readonly string[], to: HostEntry): Promise<void> {
    const folders = await this.#foldersTo(names);
    await this.#change([...folders, { path: names.join("/"), from: await this.#before(names), to }]);
  }

  /** The folders that are missing on the way to a path. */
  async #foldersTo(names: readonly string[]): Promise<readonly Change[]> {
    const made: Change[] = [];
    for (let depth = 1; depth < names.length; depth += 1) {
      const [folder, path] = [names.slice(0, depth), names.slice(0, depth).join("/")];
      const node = this.#view.node(folder);
      this.#relyOnFolder(path, node !== undefined);
      if (node === undefined) made.push({ path, from: await this.#before(folder), to: NEW_FOLDER });
      else if (node.kind !== "folder") throw new HoldfastError("FILE_NOT_FOLDER", { path });
    }
    return made;
  }

  /** Content too large to hold waits in a file of ours, until it is decided about what is done with it. */
  async #keeping(work: (keep: HostSession["keep"]) => Promise<void>): Promise<void> {
    const access = this.#access;
    access.peek(); // nothing is written for a call that has ended
    const files: string[] = [];
    const keep = async (source: ByteSource, path: string) => {
      const staged = await this.#host.keep(source, path);
      if (access.waits === undefined) files.push(staged.file);
      else access.waits(staged.file);
      return staged;
    };
    try {
      await work(keep);
    } finally {
      for (const file of files) this.#host.letGo(file);
    }
  }

  async #writeContent(
    names: readonly string[],
    what: Pick<HostEntry & { readonly kind: "file" }, "digest" | "size">,
    content: StagedContent,
  ): Promise<void> {
    const path = names.join("/");
    const from = await this.#before(names);
    this.#relyOnPlace(path, from);
    const folders = from.kind === "file" ? [] : await this.#foldersTo(names); // it lies in one
    refuseProtected(from, path);
    const { mode, owner } = from.kind === "file" ? from : { ...NEW_FILE, owner: undefined };
    const to: HostEntry = { kind: "file", ...what, mode, ...(owner === undefined ? {} : { owner }) };
    await this.#change([...folders, { path, from, to, content }]);
  }

  /**
   * Where the content of a file waits when it gets another name or mode; undefined when it is kept under its own. What a
   * command left is trusted at the path and with the mode that it was left with, so it is taken from there.
   */
  async #contentOf(path: string, keep: HostSession["keep"]): Promise<StagedContent | undefined> {
    const above = this.#view.above(path);
    if (above === undefined) return { at: path };
    const content = above.staged?.content;
    const waits = content !== undefined && !("lies" in content) && !("placed" in content);
    if (waits || this.#host.mode !== "host") return content;
    return { file: (await keep(this.#view.content(above, path), path)).file };
  }

  /** Everything at and below a path, the deepest last. Into one list: a folder may hold more than a call has arguments. */
  async #all(names: readonly string[], found: Found[] = []): Promise<readonly Found[]> {
    const { disk, limits } = this.#host;
    const path = names.join("/");
    const node = this.#view.node(names);
    if (node?.kind === "other")
      throw new HoldfastError("FILE_NOT_COVERED", { path, holds: "a pipe, socket or device" });
    const from = await this.#before(names);
    found.push({ path, names, from, to: ABSENT });
    if (found.length > limits.paths) refuseMany(found, limits);
    if (from.kind !== "folder") return found;
    const hidden = disk.hidden(names);
    if (hidden > 0)
      throw new HoldfastError("FILE_NOT_COVERED", { path, holds: "names that are no text, or ours", hidden });
    const inside = this.#view.list(names);
    this.#relyOnAll(names, inside);
    for (const { name } of inside) await this.#all([...names, name], found);
    return found;
  }

  /** Nobody reads a folder to write below it; but another call must neither remove it nor put something in its place. */
  #relyOnFolder(path: string, isThere: boolean): void {
    if (lookUp(this.#access.peek().paths, path)?.staged !== undefined) return; // the call's own
    this.#access.look(`folder ${path}`, (value) => {
      const kind = lookUp(value.paths, path)?.now.kind ?? "folder";
      return kind === "absent" && !isThere ? "folder" : kind;
    });
  }

  /** Of two that write a file the later one stands; but not over what is no file, and not with the mode that it had. */
  #relyOnPlace(path: string, from: HostEntry): void {
    this.#access.look(`place ${path}`, (value) => {
      const now = lookUp(value.paths, path)?.now ?? from;
      if (now.kind === "file") return `file ${now.mode}`;
      return now.kind === "absent" && from.kind === "absent" ? `file ${NEW_FILE_MODE}` : now.kind;
    });
  }

  /** Whoever removes or moves a folder must take all that is in it. */
  #relyOnAll(names: readonly string[], inside: readonly FileEntry[]): void {
    const kinds = new Map(inside.map(({ name, kind }) => [name, kind]));
    this.#access.look(`all ${names.join("/")}`, (value) =>
      [...childrenIn(value, names)]
        .filter(([name, , { now }]) => now.kind !== "absent" && now.kind !== kinds.get(name))
        .map(([name]) => name)
        .join("\0"),
    );
  }
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
