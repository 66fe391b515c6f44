import { availableParallelism } from "node:os";
import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { BlobName } from "../../records/ids.ts";
import { folderAbove } from "../path.ts";
import { bringBack } from "./bring-back.ts";
import { compareAt, compareTree, type Comparison, differenceOf, type TreeDifference } from "./compare.ts";
import type { ExecGround } from "./exec-place.ts";
import { fileTime } from "./exec-place.ts";
import { Images } from "./images.ts";
import { type CoverLimits, type Manifest, takeManifest } from "./manifest.ts";
import { CHANGES, keptManifest, MANIFEST, saveManifest } from "./manifest-file.ts";
import { makePlace, PLACES, readNamed, writeNamed } from "./meta.ts";
import { OWNER_ALL } from "./modes.ts";
import { realHost } from "./port.ts";
import type { ToSync } from "./syncing.ts";
import type { WalkGround } from "./walk.ts";
import { WalkThread } from "./walk-thread.ts";

const MARK = "in-place";

type Sync = (names: ToSync) => Promise<void>;

/**
 * Commands that work on the files themselves. Before the first one everything is written down: what there is, and what
 * every file holds. So it can be told afterwards what they did, and all of it can be brought back, by this process or by
 * whoever opens the workspace next.
 */
export class InPlace {
  readonly id: string;
  readonly manifest: Manifest;
  readonly #ground: ExecGround;
  readonly #images: Images;
  /** The tree as it was found after the newest command, as long as nothing can have changed it since. */
  #found: Comparison | undefined;

  private constructor(ground: ExecGround, id: string, manifest: Manifest, images: Images) {
    this.#ground = ground;
    this.id = id;
    this.manifest = manifest;
    this.#images = images;
  }

  /** Takes the manifest, and marks the workspace as being worked on. `sync` makes durable what lies there. */
  static async begin(ground: ExecGround, id: string, limits: CoverLimits, sync: Sync): Promise<InPlace> {
    const { root } = ground;
    const images = imagesIn(ground);
    const earlier = keptManifest(ground);
    const manifest = takeManifest(walkIn(ground), images, fileTime(ground), limits, earlier?.manifest);
    const saved = saveManifest(ground, manifest, earlier);
    if (saved.files.length > 0) images.retain(namesIn(manifest));
    const fresh = images.takeFresh().map((name) => [...PLACES.images, name]);
    if (saved.files.length + fresh.length > 0)
      await sync({ files: [...saved.files, ...fresh], folders: [PLACES.images, PLACES.home] });
    const place = [...PLACES.exec, id];
    const sum = ground.known.kept?.sum ?? "";
    root.inside(place, (folder) => writeNamed(root.port, folder, MARK, Buffer.from(`${id} ${sum}`)));
    // After what it names: a mark without its manifest would say that something cannot be undone.
    await sync({ files: [[...place, MARK]], folders: [place, PLACES.exec, PLACES.home] });
    return new InPlace(ground, id, manifest, images);
  }

  /** The commands that an earlier process left in the middle. Undefined when these were none, or had not begun. */
  static left(ground: ExecGround, id: string): InPlace | undefined {
    const { root } = ground;
    const mark = root.within([...PLACES.exec, id], (place) =>
      root.port.stat(place.at(MARK)) === undefined ? undefined : readNamed(root.port, place, MARK).toString("utf8"),
    );
    if (mark === undefined) return undefined;
    const kept = keptManifest(ground);
    const whole = `${id} ${kept?.sum ?? ""}`;
    if (mark !== id && mark.length < whole.length && whole.startsWith(mark)) return undefined; // torn: nothing began
    if (kept === undefined || (mark !== id && mark !== whole))
      throw new HoldfastError("EXEC_NOT_UNDONE", { id, left: "the manifest is damaged" });
    return new InPlace(ground, id, kept.manifest, imagesIn(ground));
  }

  /** Somebody is about to change the files. */
  changing(): void {
    this.#found = undefined;
  }

  difference(): TreeDifference {
    this.#found = compareTree(walkIn(this.#ground), this.manifest);
    return differenceOf(this.#found, this.#ground.root.port);
  }

  /** What a path held before. */
  async *content(digest: BlobName): AsyncIterable<Bytes> {
    yield* this.#images.read(digest);
  }

  /** Everything as it was, or only some paths. Answers which had to be brought back. */
  restore(only?: ReadonlySet<string>): readonly string[] {
    const known = this.#found?.unlike.map(({ path }) => path).filter((path) => only?.has(path) ?? true);
    try {
      return this.#restore((path) => only?.has(path) ?? true, only === undefined);
    } catch (error) {
      if (known === undefined) throw this.#notUndone(error);
    }
    // Somebody else was there after the look. Their other work is theirs: only what lies in the way is looked at again.
    this.#found = undefined;
    const concerns = concerning(known);
    try {
      const again = this.#restore((path) => (only?.has(path) ?? true) && concerns(path), only === undefined);
      return [...new Set([...known, ...again])];
    } catch (error) {
      throw this.#notUndone(error);
    }
  }

  #notUndone(error: unknown): HoldfastError {
    this.#found = undefined; // or the next attempt would fail as this one has
    if (HoldfastError.is(error, "EXEC_NOT_UNDONE")) return error;
    return new HoldfastError("EXEC_NOT_UNDONE", { id: this.id, left: String(error) }, { cause: error });
  }

  #restore(isMeant: (path: string) => boolean, withUnnamed: boolean): readonly string[] {
    const { root, rescue, places } = this.#ground;
    const all = this.#toRestore();
    // What a command has made goes as it is; what was there before may lack something that nobody sees.
    const unseen = all.uncovered
      .filter(({ path, why }) => why === "unreadable" && (path === "" || this.manifest.entries.has(path)))
      .map(({ path }) => path);
    if (unseen.length > 0) throw new HoldfastError("EXEC_NOT_UNDONE", { id: this.id, left: unseen.slice(0, 20) });
    const unlike = all.unlike.filter(({ path }) => isMeant(path));
    const unnamed = withUnnamed ? all.unnamed : [];
    const images = this.#images;
    const ground = { root, rescue, images, rescueFolder: places.rescue, temporary: places.temporary, id: this.id };
    const stays = new Set(all.unlike.flatMap(({ path }) => (isMeant(path) ? [] : [path])));
    bringBack(ground, { unlike, unnamed }, this.manifest, stays);
    this.#found = undefined;
    const paths = unlike.map(({ path }) => path);
    // A file whose names all went is a new one now, with the same names.
    const left = compareAt(walkIn(this.#ground), this.manifest, withFolders(paths)).filter(
      ({ path, was, is }) => !stays.has(path) && (was?.digest === undefined || was.digest !== is?.digest),
    );
    if (left.length > 0)
      throw new HoldfastError("EXEC_NOT_UNDONE", { id: this.id, left: left.map(({ path }) => path).slice(0, 20) });
    return [...paths, ...unnamed.map(({ path }) => path)];
  }

  /** As it was found after the command, if it could be looked at whole; else everything is looked at again. */
  #toRestore(): Comparison {
    if (this.#found !== undefined && !this.#found.uncovered.some(({ why }) => why === "unreadable")) return this.#found;
    this.#openUnreadable();
    return compareTree(walkIn(this.#ground), this.manifest);
  }

  /** A command may have closed a folder, also to its owner. */
  #openUnreadable(): void {
    const { root } = this.#ground;
    const opened = new Set<string>(); // one that stays closed, whatever its mode is, is not tried for ever
    for (;;) {
      const { uncovered } = compareTree(walkIn(this.#ground), this.manifest);
      const closed = uncovered.filter(({ why }) => why === "unreadable").map(({ path }) => `${root.path}/${path}`);
      const ours = closed.filter((path) => !opened.has(path) && root.port.stat(path)?.uid === root.port.user.uid);
      if (ours.length === 0) return;
      for (const path of ours) {
        root.port.modeAt(path, OWNER_ALL);
        opened.add(path);
      }
    }
  }
}

function walkIn(ground: ExecGround): WalkGround {
  const { root, disk } = ground;
  return { port: root.port, base: root.path, isOwn: (path) => disk.isOwnPath(path), second: secondIn(ground) };
}

/** From so many names on, a second thread saves more than it costs. */
const LARGE = 3_000;

/** None for a system that is not the real one: a thread would see another. */
function secondIn({ root, known }: ExecGround): WalkThread | undefined {
  const names = known.kept?.manifest.entries.size ?? 0;
  if (names < LARGE || root.port !== realHost || availableParallelism() < 2) return undefined;
  known.second ??= new WalkThread();
  return known.second;
}

function imagesIn({ root, known }: ExecGround): Images {
  makePlace(root, PLACES.images);
  known.images ??= new Images(root.port, root.mustHave(PLACES.images));
  return known.images;
}

/** Paths with the folders they lie in, whose times change with them. */
function withFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set([...paths, ...paths.map(folderAbove).filter((folder) => folder !== "")]);
}

/** True for some paths, for what lies below them and for the folders that they lie in. */
function concerning(paths: readonly string[]): (path: string) => boolean {
  const all = new Set(paths);
  const above = new Set(paths.flatMap(foldersAbove));
  return (path) => all.has(path) || above.has(path) || foldersAbove(path).some((folder) => all.has(folder));
}

function foldersAbove(path: string): readonly string[] {
  const names = path.split("/");
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join("/"));
}

function namesIn({ entries }: Manifest): ReadonlySet<string> {
  const names = new Set<string>([MANIFEST, CHANGES]);
  for (const { digest } of entries.values()) if (digest !== undefined) names.add(digest);
  return names;
}
