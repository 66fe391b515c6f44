import { byPath } from "../by-path.ts";
import { isText, nameText, type HostPort, type HostStat, isSystem } from "./port.ts";

/** Something in a workspace that cannot be kept or brought back, and why. */
export interface Uncovered {
  readonly path: string;
  readonly why:
    | "special" // a pipe, a socket, a device
    | "not-text"
    | "other-device"
    | "too-large"
    | "unreadable"
    | "shared" // a file that has another name, which could not be changed with it
    | "root-changed"
    | "reserved" // made under a name that is ours, or in the place of a folder that holds something of ours
    | "store"; // of sessions, where a command can reach it
}

export interface Walked {
  /** The folder itself. */
  readonly root: HostStat | undefined;
  /** Everything with a name in text, by path; folders before what is in them. */
  readonly entries: ReadonlyMap<string, HostStat>;
  readonly uncovered: readonly Uncovered[];
  /** Where the names lie that are no text, as the system knows them. */
  readonly unnamed: readonly { readonly path: string; readonly at: Uint8Array }[];
}

export interface WalkGround {
  readonly port: HostPort;
  /** Where the tree begins, as a path of the system. */
  readonly base: string;
  /** True for what is ours: it is no part of the tree. */
  readonly isOwn: (path: string) => boolean;
  /** Somebody who looks at some of the folders meanwhile. */
  readonly second?: SecondWalker | undefined;
}

/** Shares the folders of a walk, each with all that is below it: whoever is free takes the next. */
export interface SecondWalker {
  /** Undefined: not now. */
  share(base: string, root: HostStat | undefined, folders: readonly string[]): SharedWalk | undefined;
}

export interface SharedWalk {
  /** The next folder that nobody has taken, by its place. */
  next(): number;
  /** What the other one found; undefined when it found nothing that can be trusted, and everything it took is still to do. */
  theirs(): FoundElsewhere | undefined;
}

export interface FoundElsewhere extends Pick<Walked, "uncovered" | "unnamed"> {
  readonly entries: Iterable<readonly [string, HostStat]>;
}

/** Looks at every name below a folder, and reads nothing. Links are taken for what they are; nothing is followed. */
export function walkTree({ port, base, isOwn, second }: WalkGround): Walked {
  const root = port.stat(base);
  const walk = new Walk(port, base, isOwn, root);
  let folders = walk.into([""]);
  if (second === undefined) return walk.below(folders);
  // A tree begins narrow: one folder cannot be shared by two.
  for (let level = 0; level < LEVELS && folders.length > 0 && folders.length < SHARES; level += 1)
    folders = walk.into(folders);
  const shared = second.share(base, root, folders);
  if (shared === undefined) return walk.below(folders);
  const ours = new Set<string>();
  for (let at = shared.next(); at < folders.length; at = shared.next()) {
    const folder = folders[at] as string;
    ours.add(folder);
    walk.below([folder]);
  }
  const theirs = shared.theirs();
  if (theirs === undefined) walk.below(folders.filter((folder) => !ours.has(folder)));
  walk.add(theirs ?? NOTHING_FOUND);
  return walk;
}

const SHARES = 16;
const LEVELS = 4;
const NOTHING_FOUND: FoundElsewhere = { entries: [], uncovered: [], unnamed: [] };

/** What was found so far. */
export class Walk implements Walked {
  readonly entries = new Map<string, HostStat>();
  readonly uncovered: Uncovered[] = [];
  readonly unnamed: { path: string; at: Uint8Array }[] = [];
  readonly root: HostStat | undefined;
  readonly #port: HostPort;
  readonly #base: string;
  readonly #isOwn: WalkGround["isOwn"];

  constructor(port: HostPort, base: string, isOwn: WalkGround["isOwn"], root: HostStat | undefined) {
    this.#port = port;
    this.#base = base;
    this.#isOwn = isOwn;
    this.root = root;
  }

  /** Everything below some folders. `beat`: told after each. */
  below(folders: readonly string[], beat: () => void = () => {}): this {
    const left = [...folders];
    for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
      for (const found of this.#into(folder)) left.push(found);
      beat();
    }
    return this;
  }

  /** What lies in some folders. Answers the folders among it. */
  into(folders: readonly string[]): string[] {
    return folders.flatMap((folder) => this.#into(folder));
  }

  /** What somebody else found in other folders. Who took which is chance, and what is written down of it must not be. */
  add({ entries, uncovered, unnamed }: FoundElsewhere): void {
    for (const [path, stat] of entries) if (!this.#isOwn(path)) this.entries.set(path, stat);
    for (const one of uncovered) if (!this.#isOwn(one.path)) this.uncovered.push(one);
    for (const one of unnamed) if (!this.#isOwn(one.path)) this.unnamed.push(one);
    this.uncovered.sort(byPath);
    this.unnamed.sort(byPath);
  }

  #into(folder: string): string[] {
    const beginning = folder === "" ? "" : `${folder}/`;
    const folders: string[] = [];
    for (const name of this.#namesIn(folder)) {
      const text = typeof name === "string" ? name : nameText(name);
      const path = `${beginning}${text}`;
      if (this.#isOwn(path)) continue;
      if (typeof name !== "string" && !isText(name, text)) {
        this.uncovered.push({ path, why: "not-text" });
        this.unnamed.push({ path, at: Buffer.concat([Buffer.from(`${this.#base}/${beginning}`), name]) });
        continue;
      }
      const stat = this.#port.stat(`${this.#base}/${path}`);
      if (stat === undefined) continue; // gone meanwhile
      this.entries.set(path, stat);
      if (stat.kind === "other") this.uncovered.push({ path, why: "special" });
      if (stat.kind !== "folder") continue;
      if (stat.dev === this.root?.dev) folders.push(path);
      else this.uncovered.push({ path, why: "other-device" });
    }
    return folders;
  }

  #namesIn(folder: string): readonly string[] | readonly Uint8Array[] {
    const at = `${this.#base}/${folder}`;
    try {
      const names = this.#port.textNames(at);
      return names.some((name) => name.includes("\uFFFD")) ? this.#port.names(at) : names;
    } catch (error) {
      if (isSystem(error, "ENOENT", "ENOTDIR")) return []; // gone meanwhile
      if (!isSystem(error, "EACCES", "EPERM")) throw error;
      this.uncovered.push({ path: folder, why: "unreadable" });
      return [];
    }
  }
}
