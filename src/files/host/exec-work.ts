import { HoldfastError } from "../../base/errors.ts";
import type { Bytes } from "../../contracts/blob-store.ts";
import type { BlobName } from "../../records/ids.ts";
import { namesIn } from "../path.ts";
import { type ExecGround, execPlaces, makeExecPlace, removeExecPlace } from "./exec-place.ts";
import { sameOwner, type Touch } from "./compare.ts";
import type { Folder } from "./folders.ts";
import { InPlace } from "./in-place.ts";
import type { Intent, Link } from "./intent.ts";
import { PLACES } from "./meta.ts";
import type { WorkspaceDeps } from "./options.ts";
import { type HostPort, type HostStat, isSystem } from "./port.ts";
import { putBack } from "./put-back.ts";
import { hashFile } from "./read-file.ts";
import { namedBy, type ToSync } from "./syncing.ts";

/** The commands of one call, as far as a commit of their work must know them. */
export interface ExecWork {
  readonly id: string;
  /** Paths whose content they changed in place. */
  readonly placed: ReadonlySet<string>;
  /** Paths that are names of one file. */
  readonly links: readonly Link[];
  /** Their work is about to be committed: from here on it is durable, and can be moved into place. */
  leaving(): Promise<void>;
  /** What a path held before. */
  before(name: BlobName): AsyncIterable<Bytes>;
  /** Some of it as it was, because the call has something else in mind for these paths. */
  restore(paths: ReadonlySet<string>): void;
}

/** Commands that an earlier process left in the middle, and how many paths had to be brought back. */
export interface BroughtBack {
  readonly exec: string;
  readonly paths: number;
}

/** Keeps count of the commands that run in a workspace. */
export class ExecWorks {
  readonly ground: ExecGround;
  readonly broughtBack: BroughtBack[] = [];
  readonly #works = new Map<string, ExecWork>();
  /** Paths as commands that worked on the files themselves left them, or as they were brought back. */
  #left: ReadonlyMap<string, HostStat | undefined> = new Map();
  /** Commands that change the files themselves: nobody else may, as long as they do. */
  #inPlace: string | undefined;

  constructor(ground: ExecGround) {
    this.ground = ground;
  }

  /** A folder for the commands of one call. */
  begin(id: string, how: "in-place" | "aside"): string {
    this.refuseOthers(how === "in-place" ? id : this.#inPlace);
    const place = makeExecPlace(this.ground, id);
    if (how === "in-place") this.#inPlace = id;
    return place;
  }

  /** What they have done so far. */
  note(work: ExecWork): void {
    this.#works.set(work.id, work);
  }

  of(id: string | undefined): ExecWork | undefined {
    return id === undefined ? undefined : this.#works.get(id);
  }

  /** They are over, and nothing that is still to be done needs their folder. */
  end(id: string, needed: boolean): void {
    this.#works.delete(id);
    if (this.#inPlace === id) this.#inPlace = undefined;
    if (!needed) removeExecPlace(this.ground, id);
  }

  /** While a command changes the files themselves, whatever anybody else commits would be taken for its work. */
  refuseOthers(id: string | undefined): void {
    if (this.#inPlace !== undefined && this.#inPlace !== id)
      throw new HoldfastError("EXEC_BUSY", { running: this.#inPlace });
  }

  /** All is in place: names of one file are names of one file again, and the folder goes. */
  finished({ exec, links = [] }: Intent): void {
    if (exec === undefined) return;
    for (const [at, link] of links.entries()) this.#share(link, `${exec}-share-${at}`);
    removeExecPlace(this.ground, exec);
  }

  /** Who escaped from the commands may still be writing there: it is looked at once more, before anything else is done. */
  watch(paths: readonly string[]): void {
    this.#left = new Map([...this.#left, ...paths.map((path) => [path, this.#look(path)] as const)]);
  }

  /** What is otherwise than it was left. Told once. */
  lateWrites(): readonly string[] {
    const late = [...this.#left].filter(([path, left]) => !sameFile(left, this.#look(path)));
    this.#left = new Map();
    return late.map(([path]) => path);
  }

  #look(path: string): HostStat | undefined {
    return this.ground.root.stat(namesIn(path));
  }

  /** Files that hold what they held get the times that a command gave them, unless somebody else was there since. */
  touch(touched: readonly Touch[]): void {
    for (const { path, mtimeNs, before } of touched)
      this.#in(path, (folder, name) => {
        const { port } = this.ground.root;
        const now = port.stat(folder.at(name));
        if (now?.kind !== "file" || now.mtimeNs !== before) return;
        const handle = port.openFile(folder.at(name), "read");
        try {
          port.written(handle, mtimeNs);
        } finally {
          port.close(handle);
        }
      });
  }

  /**
   * By a second name for the first path's file, if both still hold the same: the call itself, or somebody else, may have
   * written to one of them after the command. What lies there is looked at in rescue, where nobody can swap it.
   */
  #share({ path, same }: Link, aside: string): void {
    const { root, places } = this.ground;
    const { port } = root;
    const taken = places.rescue.at(aside);
    this.#in(same, (from, sameName) =>
      this.#in(path, (to, name) => {
        this.#giveBack(aside, to.at(name), path); // of an attempt that was cut off
        const [a, b] = [port.stat(from.at(sameName)), port.stat(to.at(name))];
        if (a?.kind !== "file" || b?.kind !== "file" || a.ino === b.ino || !sameOwner(a, b)) return;
        const holds = digestAt(port, from.at(sameName));
        if (a.size !== b.size || holds !== digestAt(port, to.at(name))) return;
        port.rename(to.at(name), taken);
        if (digestAt(port, taken) !== holds) return this.#giveBack(aside, to.at(name), path);
        try {
          port.linkAs(from.at(sameName), to.at(name));
        } catch (error) {
          if (!isSystem(error, "EEXIST")) throw error; // somebody was quicker: theirs stays
        }
        port.unlink(taken);
      }),
    );
  }

  #giveBack(aside: string, place: string, path: string): void {
    const { root, places, rescue } = this.ground;
    if (root.port.stat(places.rescue.at(aside)) === undefined) return;
    if (!putBack(root.port, places.rescue.at(aside), place)) rescue.note(aside, { path, whose: "theirs" });
  }

  #in(path: string, work: (folder: Folder, name: string) => void): void {
    this.ground.root.withinParent(namesIn(path), work);
  }

  /** Takes back what commands of earlier processes had done. Whatever was decided is no longer here. */
  async recover(
    endStrays: NonNullable<WorkspaceDeps["endStrays"]>,
    sync: (names: ToSync) => Promise<void>,
  ): Promise<void> {
    const held = new Set([`${this.ground.root.path}/${PLACES.home.join("/")}`]);
    for (const id of execPlaces(this.ground)) {
      await endStrays(id, held);
      const left = InPlace.left(this.ground, id);
      if (left !== undefined) {
        const back = left.restore();
        await sync(namedBy(back)); // before the mark goes that says that there is something to bring back
        this.broughtBack.push({ exec: id, paths: back.length });
      }
      removeExecPlace(this.ground, id);
    }
  }

  close(): void {
    this.ground.known.images?.close();
    this.ground.known.second?.close();
  }
}

function digestAt(port: HostPort, path: string): string | undefined {
  return hashFile(port, path)?.digest;
}

/** The time of a folder changes with everything that is put into it. */
function sameFile(a: HostStat | undefined, b: HostStat | undefined): boolean {
  if (a?.kind !== b?.kind) return false;
  return a?.kind === "folder" || (a?.ino === b?.ino && a?.size === b?.size && a?.mtimeNs === b?.mtimeNs);
}
