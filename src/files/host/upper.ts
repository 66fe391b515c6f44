import type { TreeChange, TreeDifference } from "./compare.ts";
import { ABSENT, type HostEntry, sameEntry } from "./entry.ts";
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
}

export interface UpperChange extends TreeChange {
  /** A new file lies in the upper layer, or has come with its folder from elsewhere in the workspace. */
  readonly lies?: "upper" | "below";
}

export interface UpperDifference extends TreeDifference {
  readonly changes: readonly UpperChange[];
  /** Paths that the commands changed, and somebody else meanwhile. */
  readonly conflicts: readonly string[];
}

/**
 * What commands did, from the layer they wrote to. Names are compared between what they see and what lies below, under
 * folders of the upper layer only: so the marks with which a layer hides and moves things need not be understood, and the
 * cost follows the change.
 */
export function upperDifference(ground: UpperGround): UpperDifference {
  const work = new UpperWalk(ground);
  work.folder("");
  const changes = work.changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { changes, touched: work.touched, uncovered: work.uncovered, conflicts: work.conflicts };
}

class UpperWalk {
  readonly changes: UpperChange[] = [];
  readonly touched: { path: string; mtimeNs: bigint }[] = [];
  readonly uncovered: Uncovered[] = [];
  readonly conflicts: string[] = [];
  readonly #ground: UpperGround;

  constructor(ground: UpperGround) {
    this.#ground = ground;
  }

  /** A folder that the commands have changed something in, or that they made. */
  folder(path: string): void {
    const { port, lower, upper, inside, isOwn } = this.#ground;
    const written = new Set(this.#names(upper, path).map(nameText));
    const seen = this.#names(inside, path);
    const visible = new Set(seen.map(nameText));
    for (const name of this.#names(lower, path)) {
      const gone = below(path, nameText(name));
      if (visible.has(nameText(name)) || isOwn(gone)) continue;
      // Made below by somebody else after the commands had begun: they never saw it.
      if (!written.has(nameText(name)) && this.#isNewer(port.stat(`${lower}/${gone}`))) continue;
      this.#removed(gone);
    }
    for (const name of seen) {
      const one = below(path, nameText(name));
      if (isOwn(one)) continue;
      if (isText(name)) this.#one(one, written.has(nameText(name)));
      else if (written.has(nameText(name))) this.uncovered.push({ path: one, why: "not-text" });
    }
  }

  #one(path: string, isWritten: boolean): void {
    const { port, lower, inside } = this.#ground;
    const is = port.stat(`${inside}/${path}`);
    const was = port.stat(`${lower}/${path}`);
    if (is === undefined) return;
    if (!isWritten && was !== undefined && was.kind === is.kind && was.ino === is.ino) return; // it shows through
    if (is.kind === "other") {
      this.uncovered.push({ path, why: "special" });
      return;
    }
    if (is.kind === "folder") {
      this.#change(path, was, { kind: "folder", mode: is.mode, exact: true });
      this.folder(path);
      return;
    }
    if (was?.kind === "folder") this.#removedIn(path);
    this.#file(path, is, was, isWritten);
  }

  #file(path: string, is: HostStat, was: HostStat | undefined, isWritten: boolean): void {
    const { upper, inside } = this.#ground;
    const to = this.#entry(`${isWritten ? upper : inside}/${path}`, is, path);
    if (to === undefined) return;
    const changed = this.#change(path, was, to, isWritten ? "upper" : "below");
    if (!changed && is.kind === "file" && is.mtimeNs !== was?.mtimeNs) this.touched.push({ path, mtimeNs: is.mtimeNs });
  }

  /** Everything at and below a path went. */
  #removed(path: string): void {
    const { port, lower } = this.#ground;
    const was = port.stat(`${lower}/${path}`);
    if (was === undefined) return;
    if (was.kind === "other") {
      this.uncovered.push({ path, why: "special" });
      return;
    }
    this.#change(path, was, ABSENT);
    if (was.kind === "folder") this.#removedIn(path);
  }

  #removedIn(folder: string): void {
    for (const name of this.#names(this.#ground.lower, folder)) {
      const path = below(folder, nameText(name));
      if (!isText(name)) this.uncovered.push({ path, why: "not-text" });
      else if (!this.#ground.isOwn(path)) this.#removed(path);
    }
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
    if (stat.kind === "link") return { kind: "link", target: linkAt(port, at) };
    try {
      const found = hashFile(port, at);
      if (found === undefined) return ABSENT;
      const { uid, gid, mode } = stat;
      const owner = uid === port.user.uid && gid === port.user.gid ? {} : { owner: [uid, gid] as const };
      return { kind: "file", ...found, mode, ...owner };
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

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
