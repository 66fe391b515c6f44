import { isText, nameText, type HostPort, type HostStat, isSystem } from "./port.ts";

/** Something in a workspace that cannot be kept or brought back, and why. */
export interface Uncovered {
  readonly path: string;
  readonly why: "special" | "not-text" | "other-device" | "too-large" | "unreadable" | "shared-outside";
}

export interface Walked {
  /** Everything with a name in text, by path; folders before what is in them. */
  readonly entries: ReadonlyMap<string, HostStat>;
  readonly uncovered: readonly Uncovered[];
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
  const dev = port.stat(base)?.dev;
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const beginning = folder === "" ? "" : `${folder}/`;
    for (const name of namesIn(port, `${base}/${folder}`, folder, uncovered)) {
      const path = `${beginning}${nameText(name)}`;
      if (isOwn(path)) continue;
      if (!isText(name)) {
        uncovered.push({ path, why: "not-text" });
        continue;
      }
      const stat = port.stat(`${base}/${path}`);
      if (stat === undefined) continue; // gone meanwhile
      entries.set(path, stat);
      if (stat.kind === "other") uncovered.push({ path, why: "special" });
      if (stat.kind !== "folder") continue;
      if (stat.dev === dev) folders.push(path);
      else uncovered.push({ path, why: "other-device" });
    }
  }
  return { entries, uncovered };
}

function namesIn(port: HostPort, at: string, path: string, uncovered: Uncovered[]): readonly Uint8Array[] {
  try {
    return port.names(at);
  } catch (error) {
    if (isSystem(error, "ENOENT", "ENOTDIR")) return []; // gone meanwhile
    if (!isSystem(error, "EACCES", "EPERM")) throw error;
    uncovered.push({ path, why: "unreadable" });
    return [];
  }
}
