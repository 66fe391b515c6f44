import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";
import { isClosed, OWNER_ALL } from "./modes.ts";

const SLASH = Buffer.from("/");

/** Removes a folder of ours with everything in it. By bytes: a command may have made names that are no text. */
export function removeTree(path: Uint8Array): void {
  const at = Buffer.from(path);
  const stat = lstatSync(at);
  if (!stat.isDirectory()) return unlinkSync(at);
  if (isClosed(stat)) chmodSync(at, OWNER_ALL);
  for (const entry of readdirSync(at, { encoding: "buffer", withFileTypes: true })) {
    const below = Buffer.concat([at, SLASH, entry.name]);
    if (entry.isDirectory()) removeTree(below);
    else unlinkSync(below);
  }
  rmdirSync(at);
}
