import { copyFileSync, constants } from "node:fs";
import type { TreeChange } from "./compare.ts";
import { type ExecGround, fileTime } from "./exec-place.ts";
import { HostRoot } from "./folders.ts";
import { makePlace, PLACES } from "./meta.ts";
import { isClosed, OWNER_ALL } from "./modes.ts";
import type { StagedContent } from "./part.ts";
import { foldersTo, type ToSync } from "./syncing.ts";
import { upperDifference, type UpperChange, type UpperDifference } from "./upper.ts";

export interface StagedChange extends TreeChange {
  readonly content?: StagedContent;
}

/** What commands did, each change with where its new content lies. */
export interface StagedDifference extends Omit<UpperDifference, "changes"> {
  readonly changes: readonly StagedChange[];
}

/**
 * Commands that work on a layer above the files. Below nothing changes, so whatever is newer there than the first command
 * is somebody else's.
 */
export class Aside {
  readonly id: string;
  readonly upper: string;
  /** Of what is ours, the paths that lie among the user's: no command is to see them. */
  readonly hidden: readonly string[];
  /** Whether its mount will know which names are one file. */
  readonly index: boolean;
  readonly #ground: ExecGround;
  readonly #since: bigint;
  #moved = 0;

  private constructor(ground: ExecGround, id: string, since: bigint, hidden: readonly string[]) {
    this.#ground = ground;
    this.id = id;
    this.#since = since;
    this.hidden = hidden;
    this.upper = this.#at("upper");
    this.index = ground.root.port.user.uid === 0;
  }

  /** Makes the layer, as the folder below it looks, and in it the folders in which something is to be hidden. */
  static async begin(ground: ExecGround, id: string, pause: () => Promise<void>): Promise<Aside> {
    const { root } = ground;
    for (const name of ["work", "moved"]) makePlace(root, [...PLACES.exec, id, name]);
    const hidden = ground.disk.storesToCome();
    const above = foldersTo(
      hidden.map((path) => path.split("/")),
      1,
    );
    for (const folder of [[], ...above]) {
      const place = [...PLACES.exec, id, "upper", ...folder];
      makePlace(root, place);
      likeBelow(root, folder, root, place);
    }
    const before = fileTime(ground);
    let since = before;
    // Files that were put in place a moment ago have the time of this tick, and must not look like somebody else's.
    while (since === before) {
      await pause();
      since = fileTime(ground);
    }
    return new Aside(ground, id, since, hidden);
  }

  /** `inside` is where the commands' view can be looked at. */
  difference(inside: string): StagedDifference {
    const { root, disk } = this.#ground;
    const { port, path: lower } = root;
    const isOwn = (path: string) => disk.isOwnPath(path);
    const { upper, index } = this;
    const { stay, ...found } = upperDifference({ port, lower, upper, inside, since: this.#since, isOwn, index });
    this.#makeAgain(inside, stay);
    return { ...found, changes: found.changes.map((change) => this.#staged(change, inside)) };
  }

  /** What has not gone is there for the call to write into: its next command finds it, too, and nothing of ours in it. */
  #makeAgain(inside: string, folders: readonly string[]): void {
    if (folders.length === 0) return;
    const { root } = this.#ground;
    const seen = new HostRoot(root.port, inside);
    try {
      for (const path of folders) root.port.makeFolder(`${inside}/${path}`, OWNER_ALL);
      for (const path of folders.toReversed()) likeBelow(root, path.split("/"), seen, path.split("/"));
    } finally {
      seen.close();
    }
  }

  /** Before files are moved out: what a command closed, also to its owner, cannot be taken from. */
  open(changes: readonly StagedChange[]): void {
    const { port } = this.#ground.root;
    for (const { path, to } of changes) {
      const at = `${this.upper}/${path}`;
      if (to.kind === "folder" && isClosed(to) && port.stat(at)?.kind === "folder")
        port.modeAt(at, to.mode | OWNER_ALL);
    }
  }

  /** New content where it lies: what a commit is carried out from, also after a loss of power. */
  toSync(changes: readonly StagedChange[]): ToSync {
    const files = changes.flatMap(({ content }) =>
      content !== undefined && "lies" in content && content.lies !== "" ? [content.lies.split("/")] : [],
    );
    return { files, folders: foldersTo(files, PLACES.home.length) };
  }

  #staged({ lies, ...change }: UpperChange, inside: string): StagedChange {
    // Named all the same: whoever asks what the commands left must not take it for something of the call's own.
    if (lies === undefined || change.to.kind !== "file") return { ...change, content: { lies: "", exec: this.id } };
    const place = [...PLACES.exec, this.id].join("/");
    if (lies === "upper") return { ...change, content: { lies: `${place}/upper/${change.path}`, exec: this.id } };
    this.#moved += 1;
    const moved = `moved/${this.#moved}`;
    this.#copy(`${inside}/${change.path}`, moved, change.path);
    return { ...change, content: { lies: `${place}/${moved}`, exec: this.id } };
  }

  /** Came with a folder that was moved: it lies below, under its old name, and must stay there until the commit. */
  #copy(from: string, moved: string, path: string): void {
    const { root } = this.#ground;
    const { port } = root;
    const stat = port.stat(from);
    copyFileSync(from, this.#at(moved), constants.COPYFILE_FICLONE);
    const handle = port.openFile(this.#at(moved), "read");
    try {
      const now = port.statOpen(handle);
      if (stat === undefined) throw new Error(`${path} is gone`);
      if (now.uid !== stat.uid || now.gid !== stat.gid) port.owner(handle, stat.uid, stat.gid);
      port.mode(handle, stat.mode);
      port.written(handle, stat.mtimeNs);
    } finally {
      port.close(handle);
    }
  }

  #at(name: string): string {
    return `${this.#ground.root.path}/${[...PLACES.exec, this.id, name].join("/")}`;
  }
}

/** Gives a folder the mode and the owner of the one below: commands see these, and not what lies below. */
function likeBelow(root: HostRoot, names: readonly string[], at: HostRoot, place: readonly string[]): void {
  const below = root.port.stat([root.path, ...names].join("/"));
  at.inside(place, ({ handle }) => {
    if (below === undefined) return;
    const now = root.port.statOpen(handle);
    if (now.uid !== below.uid || now.gid !== below.gid) root.port.owner(handle, below.uid, below.gid);
    root.port.mode(handle, below.mode);
  });
}
