import { toBlobName, type BlobName } from "../../records/ids.ts";
import type { HostPort } from "./port.ts";
import { boolean, branded, count, fields, list, oneOf, optional, string } from "../../records/shape.ts";

/** What is, or is to be, at one path of the workspace: everything that must be equal for it to be the same. */
export type HostEntry =
  | { readonly kind: "absent" }
  | {
      readonly kind: "file";
      readonly digest: BlobName;
      readonly size: number;
      readonly mode: number;
      /** User and group, when they are not those of the process. */
      readonly owner?: readonly [number, number];
    }
  | {
      readonly kind: "folder";
      readonly mode: number;
      /** Its mode is part of the change: a command set it. */
      readonly exact?: true;
    }
  | { readonly kind: "link"; readonly target: string };

export const ABSENT: HostEntry = { kind: "absent" };

export const entryShape = fields({
  kind: oneOf("absent", "file", "folder", "link"),
  digest: optional(branded<BlobName>()),
  size: optional(count),
  mode: optional(count),
  owner: optional(list(count)),
  target: optional(string),
  exact: optional(boolean),
});

/** From data that has the shape. Throws for a file without the name of its content. */
export function entryOf(data: {
  readonly kind: HostEntry["kind"];
  readonly digest?: string;
  readonly size?: number;
  readonly mode?: number;
  readonly owner?: readonly number[];
  readonly target?: string;
  readonly exact?: boolean;
}): HostEntry {
  const { kind, digest = "", size = 0, mode = 0, owner, target = "", exact } = data;
  if (kind === "absent") return ABSENT;
  if (kind === "folder") return exact === true ? { kind, mode, exact } : { kind, mode };
  if (kind === "link") return { kind, target };
  const [uid, gid] = owner ?? [];
  const owned = uid === undefined || gid === undefined ? {} : { owner: [uid, gid] as const };
  return { kind, digest: toBlobName(digest), size, mode, ...owned };
}

/** Whose a file is, when it is not the process's own. */
export function ownerIn(
  { uid, gid }: HostPort["user"],
  user: HostPort["user"],
): { readonly owner?: readonly [number, number] } {
  return uid === user.uid && gid === user.gid ? {} : { owner: [uid, gid] };
}

export function sameEntry(a: HostEntry, b: HostEntry): boolean {
  if (a.kind === "file" && b.kind === "file")
    return a.digest === b.digest && a.mode === b.mode && String(a.owner ?? "") === String(b.owner ?? "");
  if (a.kind === "link" && b.kind === "link") return a.target === b.target;
  // A folder's own mode is the user's: changing it is no edit of what is inside. Unless a command meant it.
  if (a.kind === "folder" && b.kind === "folder") return (a.exact ?? b.exact) !== true || a.mode === b.mode;
  return a.kind === b.kind;
}

export function bytesIn(entry: HostEntry): number {
  return entry.kind === "file" ? entry.size : 0;
}
