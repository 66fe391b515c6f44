import { sameOwner, type Touch, type TreeChange, type TreeDifference } from "./compare.ts";
import { byPath } from "../by-path.ts";
import { ABSENT, type HostEntry, ownerIn, sameEntry } from "./entry.ts";
import type { Link } from "./intent.ts";
import { linkAt } from "./manifest.ts";
import { type HostPort, type HostStat, isSystem, isText, nameText } from "./port.ts";
import { hashFile } from "./read-file.ts";
import type { Uncovered } from "./walk.ts";

export interface UpperGround {
  readonly port: HostPort;
  /** The workspace, where nothing has been changed by the commands. */
  readonly lower: string;
  /** What the commands wrote. */
  readonly upper: string;
  /** Both together, as the commands see it. */
  readonly inside: string;
  /** The file system's time before the first command: whatever is newer below, somebody else changed. */
  readonly since: bigint;
  readonly isOwn: (path: string) => boolean;
  /** Whether the layers know which names are one file. */
  readonly index: boolean;
}

export interface UpperChange extends TreeChange {
  /** A new file lies in the upper layer, or has come with its folder from elsewhere in the workspace. */
  readonly lies?: "upper" | "below";
}

export interface UpperDifference extends TreeDifference {
  readonly changes: readonly UpperChange[];
  /** Changed paths that are names of one file. */
  readonly links: readonly Link[];
  /** Paths that the commands changed, and somebody else meanwhile. */
  readonly conflicts: readonly string[];
}

/** The same, and the folders that the commands removed and that stay: they hold something of ours. Each before those in it. */
export interface FoundUpper extends UpperDifference {
  readonly stay: readonly string[];
}

/**
 * What commands did, from the layer they wrote to. Names are compared between what they see and what lies below, under
 * folders of the upper layer only: so the marks with which a layer hides and moves things need not be understood, and the
 * cost follows the change. What was not written there is looked at only when a file with several names was: it may be one of
 * them.
 */
export function upperDifference(ground: UpperGround): FoundUpper {
  const work = new UpperWalk(ground);
  const { port, lower, inside } = ground;
  if (!sameOwner(port.stat(lower), port.stat(inside))) work.uncovered.push({ path: ".", why: "root-changed" });
  work.folder("", { isBelow: true, isSame: true });
  work.lookFurther();
  const changes = work.changes.toSorted(byPath);
  const links = work.linksBetween();
  const { touched, uncovered, conflicts, stay } = work;
  return { changes, links, touched, uncovered, conflicts, stay };
}

/** What lies below a folder that the commands have changed something in, or that they made. */
interface Below {
  /** There is a folder. */
  readonly isBelow: boolean;
  /** It is this very folder that shows through, and not one that was moved here. */
  readonly isSame: boolean;
}

class UpperWalk {
  readonly changes: UpperChange[] = [];
  readonly touched: Touch[] = [];
  readonly uncovered: Uncovered[] = [];
  readonly conflicts: string[] = [];
  readonly stay: string[] = [];
  readonly #ground: UpperGround;
  /** Files that have several names, by what the system calls them. */
  readonly #shared = new Map<bigint, { readonly links: number; readonly changed: string[]; readonly as: string[] }>();

  /** What shows through from below, unlooked at. */
  readonly #through: string[] = [];
  /** A file with several names was written, replaced or removed. */
  #sharing = false;

  constructor(ground: UpperGround) {
    this.#ground = ground;
  }

  /** Under another name, something may have been written that seems to show through. */
  lookFurther(): void {
    if (this.#sharing) for (const path of this.#through) this.#one(path, false, true);
  }

  folder(path: string, { isBelow, isSame }: Below): void {
    const { port, lower, upper, inside, isOwn } = this.#ground;
    const written = new Set(this.#names(upper, path).map(nameText));
    const seen = this.#names(inside, path);
    const visible = new Set(seen.map(nameText));
    const lying = new Set(isBelow ? this.#names(lower, path).map(nameText) : []);
    for (const name of lying) {
      const gone = below(path, name);
      if (visible.has(name) || isOwn(gone)) continue;
      // Made below by somebody else after the commands had begun: they never saw it.
      if (!written.has(name) && this.#isNewer(port.stat(`${lower}/${gone}`))) continue;
      this.stay.push(...(this.#removed(gone) ?? []));
    }
    for (const bytes of seen) {
      const name = nameText(bytes);
      const one = below(path, name);
      if (isOwn(one)) {
        // A command made it: it could not see ours. Kept, it would be a part of ours, or in its way.
        if (written.has(name)) this.uncovered.push({ path: one, why: "reserved" });
        continue;
      }
      if (isSame && !written.has(name) && lying.has(name)) this.#through.push(one);
      else if (isText(bytes, name)) this.#one(one, written.has(name), isBelow);
      else if (written.has(name)) this.uncovered.push({ path: one, why: "not-text" });
    }
  }

  #one(path: string, isWritten: boolean, isBelow: boolean): void {
    const { port, lower, inside } = this.#ground;
    const was = isBelow ? port.stat(`${lower}/${path}`) : undefined;
    const is = (isWritten && was === undefined ? this.#own(path) : undefined) ?? port.stat(`${inside}/${path}`);
    if (is === undefined) return;
    this.#sharing ||= isShared(is) || isShared(was);
    if (!isWritten && showsThrough(is, was)) {
      if (is.kind === "file") this.#noteShared(path, is, was, false);
      return;
    }
    if (is.kind === "other") {
      this.uncovered.push({ path, why: "special" });
      return;
    }
    if (is.kind === "folder") {
      this.#change(path, was, { kind: "folder", mode: is.mode, exact: true });
      this.folder(path, { isBelow: was?.kind === "folder", isSame: was?.kind === "folder" && was.ino === is.ino });
      return;
    }
    if (was?.kind === "folder" && this.#removedIn(path) !== undefined) {
      this.uncovered.push({ path, why: "reserved" });
      return;
    }
    this.#file(path, is, was, isWritten);
  }

  /** Something new with one name is what the layer says, which is asked more quickly than both layers together. */
  #own(path: string): HostStat | undefined {
    const stat = this.#ground.port.stat(`${this.#ground.upper}/${path}`);
    return stat?.kind === "link" || (stat?.kind === "file" && stat.links === 1) ? stat : undefined;
  }

  #file(path: string, is: HostStat, was: HostStat | undefined, isWritten: boolean): void {
    const { upper, inside } = this.#ground;
    const to = this.#entry(`${isWritten ? upper : inside}/${path}`, is, path);
    if (to === undefined) return;
    const changed = this.#change(path, was, to, isWritten ? "upper" : "below");
    if (is.kind === "file") this.#noteShared(path, is, was, changed);
    if (changed || is.kind !== "file" || was === undefined || is.mtimeNs === was.mtimeNs) return;
    this.touched.push({ path, mtimeNs: is.mtimeNs, before: was.mtimeNs });
  }

  #noteShared(path: string, is: HostStat, was: HostStat | undefined, changed: boolean): void {
    // Without an index a copy is made of a file that has several names, and the others do not hear of it.
    if (changed && !this.#ground.index && was?.kind === "file" && was.links > 1)
      this.uncovered.push({ path, why: "shared" });
    if (is.links < 2) return;
    const group = this.#shared.get(is.ino) ?? { links: is.links, changed: [], as: [] };
    group[changed ? "changed" : "as"].push(path);
    this.#shared.set(is.ino, group);
  }

  /** Names of one file stay so. When one of them was not looked at, because nothing else in its folder changed, it is told. */
  linksBetween(): readonly Link[] {
    return [...this.#shared.values()].flatMap(({ links, changed, as }) => {
      const [first, ...others] = [...as, ...changed];
      if (first === undefined || changed.length === 0) return [];
      if (as.length + changed.length < links) this.uncovered.push({ path: changed[0] ?? first, why: "shared" });
      return others.filter((path) => changed.includes(path)).map((path) => ({ path, same: first }));
    });
  }

  /** Everything at and below a path went, but for what is ours: answers the folders that stay because they hold it, if any. */
  #removed(path: string): readonly string[] | undefined {
    const { port, lower } = this.#ground;
    const was = port.stat(`${lower}/${path}`);
    if (was === undefined) return undefined;
    this.#sharing ||= isShared(was);
    if (was.kind === "other") {
      this.uncovered.push({ path, why: "special" });
      return undefined;
    }
    const stay = was.kind === "folder" ? this.#removedIn(path) : undefined;
    if (stay !== undefined) return [path, ...stay];
    this.#change(path, was, ABSENT);
    return undefined;
  }

  /** Undefined when nothing of ours lies below. */
  #removedIn(folder: string): readonly string[] | undefined {
    let stay: readonly string[] | undefined;
    for (const name of this.#names(this.#ground.lower, folder)) {
      const path = below(folder, nameText(name));
      if (!isText(name)) this.uncovered.push({ path, why: "not-text" });
      else {
        const inside = this.#ground.isOwn(path) ? [] : this.#removed(path);
        if (inside !== undefined) stay = [...(stay ?? []), ...inside];
      }
    }
    return stay;
  }

  /** True when it is another entry than before. */
  #change(path: string, was: HostStat | undefined, to: HostEntry, lies?: UpperChange["lies"]): boolean {
    const { lower } = this.#ground;
    const from = was === undefined ? ABSENT : this.#entry(`${lower}/${path}`, was, path);
    if (from === undefined) return true;
    if (sameEntry(from, to)) return false;
    // The time of a folder changes with everything that is put into it: only files and links tell who was there.
    if (was?.kind !== "folder" && this.#isNewer(was)) this.conflicts.push(path);
    this.changes.push(lies === undefined ? { path, from, to } : { path, from, to, lies });
    return true;
  }

  #isNewer(stat: HostStat | undefined): boolean {
    return stat !== undefined && stat.ctimeNs >= this.#ground.since;
  }

  /** Undefined for what cannot be read, which is told. */
  #entry(at: string, stat: HostStat, path: string): HostEntry | undefined {
    const { port } = this.#ground;
    if (stat.kind === "folder") return { kind: "folder", mode: stat.mode, exact: true };
    if (stat.kind === "link") {
      const target = linkAt(port, at);
      if (target === undefined) this.uncovered.push({ path, why: "not-text" });
      return target === undefined ? undefined : { kind: "link", target };
    }
    try {
      const found = hashFile(port, at);
      if (found === undefined) return ABSENT;
      return { kind: "file", ...found, mode: stat.mode, ...ownerIn(stat, port.user) };
    } catch (error) {
      if (!isSystem(error, "EACCES", "EPERM")) throw error;
      this.uncovered.push({ path, why: "unreadable" });
      return undefined;
    }
  }

  #names(base: string, path: string): readonly Uint8Array[] {
    const { port } = this.#ground;
    if (port.stat(`${base}/${path}`)?.kind !== "folder") return []; // through a link it would be another folder's
    try {
      return port.names(`${base}/${path}`);
    } catch (error) {
      if (!isSystem(error, "EACCES", "EPERM")) throw error;
      this.uncovered.push({ path, why: "unreadable" });
      return [];
    }
  }
}

/** Nothing was written to it: what is seen is what lies below. A file with several names may have been written under another. */
function showsThrough(is: HostStat, was: HostStat | undefined): boolean {
  if (was === undefined || was.kind !== is.kind || was.ino !== is.ino) return false;
  return is.kind !== "file" || (was.mtimeNs === is.mtimeNs && was.size === is.size && was.mode === is.mode);
}

function isShared(stat: HostStat | undefined): boolean {
  return stat?.kind === "file" && stat.links > 1;
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
