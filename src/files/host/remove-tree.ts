import { chmodSync, lstatSync, readdirSync, rmdirSync, unlinkSync } from "node:fs";

/** Removes a folder of ours with everything in it. By bytes: a command may have made names that are no text. */
export function removeTree(path: Uint8Array): void {
  const at = Buffer.from(path);
  if (!lstatSync(at).isDirectory()) return unlinkSync(at);
  try {
    return rmdirSync(at);
  } catch {
    chmodSync(at, 0o700); // not empty, or closed even to its owner
  }
  for (const name of readdirSync(at, { encoding: "buffer" })) removeTree(Buffer.concat([at, Buffer.from("/"), name]));
  rmdirSync(at);
}
