import type { Json } from "../../base/json.ts";
import { parseJson } from "../../base/json.ts";
import type { Clock } from "../../base/clock.ts";
import type { HostEntry } from "./entry.ts";
import type { Folder } from "./folders.ts";
import type { RescueBounds } from "./limits.ts";
import { readNamed, writeAll, writeNamed } from "./meta.ts";
import { type HostPort, type HostStat, isSystem, nameText } from "./port.ts";

/** A file in rescue, and whose version it is. */
export interface Rescued {
  /** Its name in `.holdfast/workspace/rescue`. */
  readonly name: string;
  readonly path: string;
  /**
   * `theirs`: written by somebody else, and replaced by us. `ours`: written by a call, and not put in place because of
   * somebody else's version.
   */
  readonly whose: "theirs" | "ours";
}

/** One that its session has not been told of. */
export interface Untold extends Rescued {
  readonly session: string;
}

/** Something that a commit took out of the way. */
export interface Moved {
  readonly name: string;
  readonly path: string;
  readonly was: HostEntry;
  /** As it was when it had been looked at: whatever is written after that is late. */
  readonly stat: HostStat;
}

const NOTE = ".note";
/** Of equal length, so that the one takes the place of the other with one write. */
const [UNTOLD, TOLD] = ['"told":0', '"told":1'];
const MOST_REMEMBERED = 1_000;
/** Of its bounds, what is left full when something has to go. */
const ROOM = 7 / 8;

/**
 * Where files go that were in the way, instead of nowhere. What a call replaced lies here until the bounds ask for room:
 * its content is kept beside the journal too, but a program that had it open may have written to it since.
 */
export class Rescue {
  readonly #port: HostPort;
  readonly #folder: Folder;
  readonly #bounds: RescueBounds;
  readonly #clock: Clock;
  /** What lay here when everything was last looked at, and what has come since. */
  #held: { files: number; bytes: number; readonly oldest: number } | undefined;
  #watched: readonly Moved[] = [];
  /** Files that calls of this process took out of the way, by path and content. */
  readonly #former = new Map<string, string>();

  constructor(port: HostPort, folder: Folder, bounds: RescueBounds, clock: Clock) {
    this.#port = port;
    this.#folder = folder;
    this.#bounds = bounds;
    this.#clock = clock;
  }

  /** Says what a file in here is, so that it is found by its path and not pruned for room. `session`: it is to be told. */
  note(name: string, about: Omit<Rescued, "name">, session?: string): void {
    this.#held = undefined; // what it is about came unseen
    unlinkIfThere(this.#port, this.#folder.at(`${name}${NOTE}`)); // half of one, from an attempt that a full disk ended
    const untold = session === undefined ? {} : { session, told: 0 };
    writeNamed(this.#port, this.#folder, `${name}${NOTE}`, Buffer.from(JSON.stringify({ ...about, ...untold })));
  }

  list(): readonly Rescued[] {
    return this.#notes().map(({ name, path, whose }) => ({ name, path, whose }));
  }

  /** What was kept here and, because its process ended in between, told to nobody. */
  untold(): readonly Untold[] {
    return this.#notes().flatMap(({ name, path, whose, session, told }) =>
      session === undefined || told !== 0 ? [] : [{ name, path, whose, session }],
    );
  }

  /** It stands in a journal from here on. */
  told(name: string): void {
    const [port, place] = [this.#port, `${name}${NOTE}`];
    try {
      const text = readNamed(port, this.#folder, place).toString("utf8");
      const handle = port.openFile(this.#folder.at(place), "update");
      try {
        writeAll(port, handle, Buffer.from(text.replace(UNTOLD, TOLD)));
      } finally {
        port.close(handle);
      }
    } catch {
      // It is told, and at worst once more when the workspace is opened again.
    }
  }

  #notes(): readonly (Rescued & { readonly session?: string; readonly told?: number })[] {
    const [port, folder] = [this.#port, this.#folder];
    return this.#names().flatMap((name) => {
      if (!name.endsWith(NOTE)) return [];
      const about = parseJson(readNamed(port, folder, name).toString("utf8"));
      const kept = name.slice(0, -NOTE.length);
      if (!about.ok || port.stat(folder.at(kept)) === undefined) return [];
      const given = about.value as { readonly [key: string]: Json } as Partial<Untold & { readonly told: number }>;
      return [{ path: "", whose: "theirs" as const, ...given, name: kept }];
    });
  }

  /** Remembers what the newest commit took out of the way: somebody may have it open, and write on. */
  watch(moved: readonly Moved[]): void {
    this.#watched = moved;
    for (const { name, path, was } of moved) if (was.kind === "file") this.#remember(`${path} ${was.digest}`, name);
    this.#hold(
      this.#watched.length,
      this.#watched.reduce((sum, { stat }) => sum + stat.size, 0),
    );
  }

  /** Files that were written to after they had been taken out of the way: now they are told, and kept. */
  lateWrites(): readonly Rescued[] {
    if (this.#watched.length === 0) return [];
    const late = this.#watched.flatMap(({ name, path, stat }): Rescued[] => {
      const now = this.#port.stat(this.#folder.at(name));
      const same = now === undefined || (now.mtimeNs === stat.mtimeNs && now.size === stat.size);
      return same ? [] : [{ name, path, whose: "theirs" }];
    });
    for (const one of late) this.keepLate(one);
    this.#watched = [];
    return late;
  }

  /** The file that lay at a path and held this, if it was brought here. Somebody may have written to it since. */
  formerOf(path: string, entry: HostEntry): string | undefined {
    return entry.kind === "file" ? this.#former.get(`${path} ${entry.digest}`) : undefined;
  }

  /** Gives one a second name, where it waits to be put back. */
  nameAlso(name: string, place: string): void {
    this.#port.linkAs(this.#folder.at(name), place);
  }

  /** One was changed by us: from here on it is as it is now. */
  touched(name: string): void {
    this.#watched = this.#watched.map((one) =>
      one.name === name ? { ...one, stat: this.#port.stat(this.#folder.at(name)) ?? one.stat } : one,
    );
  }

  /** One that is back in its place goes from here. Another file of the name stays. */
  release(name: string, place: string): void {
    const [here, there] = [this.#port.stat(this.#folder.at(name)), this.#port.stat(place)];
    if (here === undefined || there === undefined || here.dev !== there.dev || here.ino !== there.ino) return;
    this.#port.unlink(this.#folder.at(name));
    this.#hold(-1, -here.size);
  }

  /** One that was written to after it had been taken out of the way. */
  keepLate({ name, ...about }: Rescued): void {
    for (const [key, known] of this.#former) if (known === name) this.#former.delete(key);
    this.note(name, about);
  }

  /** Keeps within the bounds, oldest first. What is noted goes by age only; what the newest commit moved does not go. */
  prune(): { readonly removed: number; readonly bytes: number } {
    const [port, folder] = [this.#port, this.#folder];
    const oldest = this.#clock.now() - this.#bounds.ageMs;
    if (this.#held !== undefined && this.#fits(this.#held) && this.#held.oldest >= oldest)
      return { removed: 0, bytes: 0 };
    const spared = new Set(this.#watched.map(({ name }) => name));
    const noted = new Set(this.list().map(({ name }) => name));
    const files = this.#names()
      .filter((name) => !name.endsWith(NOTE))
      .flatMap((name) => {
        const stat = port.stat(folder.at(name));
        return stat === undefined ? [] : [{ name, stat, since: Number(stat.ctimeNs / 1_000_000n) }];
      })
      .toSorted((a, b) => b.since - a.since);
    // Some room to spare, or every look would find one file too many.
    const share = this.#fits({ files: files.length, bytes: files.reduce((sum, { stat }) => sum + stat.size, 0) })
      ? 1
      : ROOM;
    let [kept, bytes, removed, freed] = [0, 0, 0, 0];
    let first = Number.POSITIVE_INFINITY;
    for (const { name, stat, since } of files) {
      kept += 1;
      bytes += stat.size;
      const crowded = !this.#fits({ files: kept, bytes }, share) && kept > 1 && !noted.has(name);
      if (spared.has(name) || !(crowded || since < oldest) || !this.#removed(name, stat, noted.has(name))) {
        first = since;
        continue;
      }
      kept -= 1;
      bytes -= stat.size;
      removed += 1;
      freed += stat.size;
    }
    this.#held = { files: kept, bytes, oldest: first };
    return { removed, bytes: freed };
  }

  /**
   * Also a folder, which came here whole because it was in the way. False when the system does not let it go: it is tried
   * again, and room that is not made is no reason to keep anybody out of the workspace.
   */
  #removed(name: string, { kind }: HostStat, isNoted: boolean): boolean {
    const [port, folder] = [this.#port, this.#folder];
    try {
      if (kind === "folder") port.removeTree(folder.at(name));
      else port.unlink(folder.at(name));
      if (isNoted) port.unlink(folder.at(`${name}${NOTE}`));
      return true;
    } catch {
      return false;
    }
  }

  #remember(key: string, name: string): void {
    this.#former.delete(key);
    this.#former.set(key, name);
    for (const oldest of this.#former.keys()) {
      if (this.#former.size <= MOST_REMEMBERED) break;
      this.#former.delete(oldest);
    }
  }

  #hold(files: number, bytes: number): void {
    if (this.#held === undefined) return;
    this.#held.files += files;
    this.#held.bytes += bytes;
  }

  #fits({ files, bytes }: { readonly files: number; readonly bytes: number }, share = 1): boolean {
    return files <= this.#bounds.files * share && bytes <= this.#bounds.bytes * share;
  }

  #names(): readonly string[] {
    return this.#port.names(this.#folder.at()).map(nameText);
  }
}

/** Removes a name that may be gone already. */
export function unlinkIfThere(port: HostPort, path: string): void {
  try {
    port.unlink(path);
  } catch (error) {
    if (!isSystem(error, "ENOENT")) throw error;
  }
}
