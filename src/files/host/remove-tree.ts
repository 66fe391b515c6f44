import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";

const SLASH = Buffer.from("/");
const OWNER_ALL = 0o700;

/** Removes a folder of ours with everything in it. By bytes: a command may have made names that are no text. */
export function removeTree(path: Uint8Array): void {
  const at = Buffer.from(path);
  const stat = lstatSync(at);
  if (!stat.isDirectory()) return unlinkSync(at);
  if ((stat.mode & OWNER_ALL) !== OWNER_ALL) chmodSync(at, OWNER_ALL); // closed even to its owner
  for (const entry of readdirSync(at, { encoding: "buffer", withFileTypes: true })) {
    const below = Buffer.concat([at, SLASH, entry.name]);
    if (entry.isDirectory()) removeTree(below);
    else unlinkSync(below);
  }
  rmdirSync(at);
}
