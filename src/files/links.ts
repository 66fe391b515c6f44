import { HoldfastError } from "../base/errors.ts";

/** More links than this on one path are a circle. */
export const LINKS_ON_A_PATH = 40;

/** The names a link leads to, when it lies in `folder`. Throws for a target outside the root. */
export function namesOfTarget(folder: readonly string[], target: string, path: string): readonly string[] {
  if (target.startsWith("/") || target === "") throw leaves(path);
  const names = [...folder];
  for (const name of target.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) throw leaves(path);
  }
  return names;
}

function leaves(path: string): HoldfastError {
  return new HoldfastError("FILE_BAD_PATH", { path: path.slice(0, 200), fault: "a link leads out of the root" });
}

export function circles(path: string): HoldfastError {
  return new HoldfastError("FILE_BAD_PATH", { path: path.slice(0, 200), fault: "its links run in a circle" });
}
