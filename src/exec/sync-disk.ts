import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { HoldfastError } from "../base/errors.ts";

const run = promisify(execFile);

/** Everything on the file system of a path is durable afterwards, with one request instead of one for each file. */
export async function syncDisk(path: string): Promise<void> {
  try {
    await run("sync", ["-f", path]);
  } catch (cause) {
    try {
      await run("sync", []);
    } catch {
      throw new HoldfastError("WORKSPACE_IO", { path, system: "sync" }, { cause });
    }
  }
}
