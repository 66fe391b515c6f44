import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { BlobName } from "../../records/ids.ts";
import { bringBack } from "./bring-back.ts";
import { compareTree, differenceOf, type TreeDifference } from "./compare.ts";
import type { ExecGround } from "./exec-place.ts";
import { fileTime } from "./exec-place.ts";
import { Images } from "./images.ts";
import { type CoverLimits, type Manifest, manifestText, readManifest, sameFile, takeManifest } from "./manifest.ts";
import { makePlace, PLACES, readNamed, writeNamed } from "./meta.ts";
import { isSystem } from "./port.ts";
import type { WalkGround } from "./walk.ts";

const MANIFEST = "manifest";
const MARK = "in-place";

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

  private constructor(ground: ExecGround, id: string, manifest: Manifest, images: Images) {
    this.#ground = ground;
    this.id = id;
    this.manifest = manifest;
    this.#images = images;
  }

  /** Takes the manifest, and marks the workspace as being worked on. `sync` makes durable what lies there. */
  static async begin(ground: ExecGround, id: string, limits: CoverLimits, sync: () => Promise<void>): Promise<InPlace> {
    const { root } = ground;
    const images = imagesIn(ground);
    const earlier = manifestIn(ground);
    const manifest = takeManifest(walkIn(ground), images, fileTime(ground), limits, earlier);
    if (!isSameTree(manifest, earlier)) {
      images.retain(namesIn(manifest));
      saveManifest(ground, manifest);
    }
    ground.known.manifest = manifest;
    await sync();
    root.inside([...PLACES.exec, id], (place) => writeNamed(root.port, place, MARK, Buffer.from(id)));
    await sync();
    return new InPlace(ground, id, manifest, images);
  }

  /** The commands that an earlier process left in the middle. Undefined when these were none, or had not begun. */
  static left(ground: ExecGround, id: string): InPlace | undefined {
    const { root } = ground;
    const marked = root.within([...PLACES.exec, id], (place) => root.port.stat(place.at(MARK))) !== undefined;
    if (!marked) return undefined;
    const manifest = manifestIn(ground);
    if (manifest === undefined) throw new HoldfastError("EXEC_NOT_UNDONE", { id, left: "the manifest is damaged" });
    return new InPlace(ground, id, manifest, imagesIn(ground));
  }

  difference(): TreeDifference {
    return differenceOf(compareTree(walkIn(this.#ground), this.manifest), this.#ground.root.port);
  }

  /** What a path held before. */
  async *content(digest: BlobName): AsyncIterable<Bytes> {
    yield* this.#images.read(digest);
  }

  /** Everything as it was, or only some paths. Answers how many had to be brought back. */
  restore(only?: ReadonlySet<string>): number {
    try {
      return this.#restore(only);
    } catch (error) {
      if (HoldfastError.is(error, "EXEC_NOT_UNDONE")) throw error;
      throw new HoldfastError("EXEC_NOT_UNDONE", { id: this.id, left: String(error) }, { cause: error });
    }
  }

  #restore(only: ReadonlySet<string> | undefined): number {
    const { root, rescue, places } = this.#ground;
    const walk = walkIn(this.#ground);
    this.#openUnreadable();
    const wanted = () => {
      const { unlike, unnamed } = compareTree(walk, this.manifest);
      if (only === undefined) return { unlike, unnamed };
      return { unlike: unlike.filter(({ path }) => only.has(path)), unnamed: [] };
    };
    const found = wanted();
    const images = this.#images;
    const ground = { root, rescue, images, rescueFolder: places.rescue, temporary: places.temporary, id: this.id };
    bringBack(ground, found, this.manifest);
    // A file whose names all went is a new one now, with the same names.
    const left = wanted().unlike.filter(({ was, is }) => was?.digest === undefined || was.digest !== is?.digest);
    if (left.length > 0)
      throw new HoldfastError("EXEC_NOT_UNDONE", { id: this.id, left: left.map(({ path }) => path).slice(0, 20) });
    return found.unlike.length + found.unnamed.length;
  }

  /** A command may have closed a folder, also to its owner. */
  #openUnreadable(): void {
    const { root } = this.#ground;
    for (;;) {
      const { uncovered } = compareTree(walkIn(this.#ground), this.manifest);
      const closed = uncovered.filter(({ why }) => why === "unreadable").map(({ path }) => `${root.path}/${path}`);
      const ours = closed.filter((path) => root.port.stat(path)?.uid === root.port.user.uid);
      if (ours.length === 0) return;
      for (const path of ours) root.port.modeAt(path, 0o700);
    }
  }
}

function walkIn({ root, disk }: ExecGround): WalkGround {
  return { port: root.port, base: root.path, isOwn: (path) => disk.isOwnPath(path) };
}

function imagesIn({ root, known }: ExecGround): Images {
  makePlace(root, PLACES.images);
  known.images ??= new Images(root.port, root.mustHave(PLACES.images));
  return known.images;
}

/** Nothing has moved since the last time: what is written down is as good. */
function isSameTree(now: Manifest, earlier: Manifest | undefined): boolean {
  if (earlier === undefined || earlier.entries.size !== now.entries.size) return false;
  for (const [path, { stat, digest }] of now.entries) {
    const before = earlier.entries.get(path);
    if (before === undefined || before.digest !== digest || !sameFile(before.stat, stat)) return false;
  }
  return true;
}

function namesIn({ entries }: Manifest): ReadonlySet<string> {
  const names = new Set<string>([MANIFEST]);
  for (const { digest } of entries.values()) if (digest !== undefined) names.add(digest);
  return names;
}

/** Beside the content it names, under its name only when it is whole. */
function saveManifest({ root }: ExecGround, manifest: Manifest): void {
  const { port } = root;
  root.inside(PLACES.images, (folder) => {
    const coming = folder.at(`coming-${MANIFEST}`);
    try {
      port.unlink(coming);
    } catch (error) {
      if (!isSystem(error, "ENOENT")) throw error;
    }
    writeNamed(port, folder, `coming-${MANIFEST}`, Buffer.from(manifestText(manifest)));
    port.rename(coming, folder.at(MANIFEST));
  });
}

function manifestIn({ root, known }: ExecGround): Manifest | undefined {
  if (known.manifest !== undefined) return known.manifest;
  return root.within(PLACES.images, (folder) => {
    if (root.port.stat(folder.at(MANIFEST)) === undefined) return undefined;
    return readManifest(readNamed(root.port, folder, MANIFEST).toString("utf8"));
  });
}
