import { HoldfastError } from "../base/errors.ts";

const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;

/** The names on the way to a path; none for the root. Throws for a path that leaves the root or cannot be a path. */
export function namesIn(path: string): readonly string[] {
  const fault = pathFault(path);
  if (fault !== undefined) throw new HoldfastError("FILE_BAD_PATH", { path: path.slice(0, 200), fault });
  return splitPath(path);
}

export function isPath(path: string): boolean {
  return pathFault(path) === undefined;
}

/** True for the path itself and everything below it. */
export function liesBelow(path: string, folder: string): boolean {
  const top = splitPath(folder).join("/");
  return top === "" || path === top || path.startsWith(`${top}/`);
}

/** The folder that a path lies in; the root is the empty one. */
export function folderAbove(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function splitPath(path: string): readonly string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}

function pathFault(path: string): string | undefined {
  if (path.startsWith("/")) return "absolute";
  if (path.includes("\0")) return "holds a NUL";
  if (!path.isWellFormed()) return "holds a lone surrogate";
  if (Buffer.byteLength(path) > LONGEST_PATH) return `longer than ${LONGEST_PATH} bytes`;
  const names = splitPath(path);
  if (names.includes("..")) return "leaves its folder";
  if (names.some((name) => Buffer.byteLength(name) > LONGEST_NAME)) return `a name longer than ${LONGEST_NAME} bytes`;
  return undefined;
}
