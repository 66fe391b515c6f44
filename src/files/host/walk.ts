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
    | "root-changed";
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
}

/** Looks at every name below a folder, and reads nothing. Links are taken for what they are; nothing is followed. */
export function walkTree({ port, base, isOwn }: WalkGround): Walked {
  const entries = new Map<string, HostStat>();
  const uncovered: Uncovered[] = [];
  const unnamed: { path: string; at: Uint8Array }[] = [];
  const root = port.stat(base);
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const beginning = folder === "" ? "" : `${folder}/`;
    for (const name of namesIn(port, `${base}/${folder}`, folder, uncovered)) {
      const text = typeof name === "string" ? name : nameText(name);
      const path = `${beginning}${text}`;
      if (isOwn(path)) continue;
      if (typeof name !== "string" && !isText(name, text)) {
        uncovered.push({ path, why: "not-text" });
        unnamed.push({ path, at: Buffer.concat([Buffer.from(`${base}/${beginning}`), name]) });
        continue;
      }
      const stat = port.stat(`${base}/${path}`);
      if (stat === undefined) continue; // gone meanwhile
      entries.set(path, stat);
      if (stat.kind === "other") uncovered.push({ path, why: "special" });
      if (stat.kind !== "folder") continue;
      if (stat.dev === root?.dev) folders.push(path);
      else uncovered.push({ path, why: "other-device" });
    }
  }
  return { root, entries, uncovered, unnamed };
}

function namesIn(
  port: HostPort,
  at: string,
  path: string,
  uncovered: Uncovered[],
): readonly string[] | readonly Uint8Array[] {
  try {
    const names = port.textNames(at);
    return names.some((name) => name.includes("\uFFFD")) ? port.names(at) : names;
  } catch (error) {
    if (isSystem(error, "ENOENT", "ENOTDIR")) return []; // gone meanwhile
    if (!isSystem(error, "EACCES", "EPERM")) throw error;
    uncovered.push({ path, why: "unreadable" });
    return [];
  }
}
