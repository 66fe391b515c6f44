import { constants, copyFileSync, renameSync, rmSync, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createGzip } from "node:zlib";
import { HoldfastError } from "../../index.ts";
import { syncFolder, syncPath } from "../synced.ts";
import { unfinished } from "../unfinished.ts";
import { isSame, statOf } from "./file-source.ts";
import { piped } from "./piped.ts";

/** A file younger than this may be in the middle of a write. */
const QUIET_MS = 2_000;

export interface Replacement {
  readonly path: string;
  /** What the file was when it was read. */
  readonly stat: BigIntStats;
  readonly gzip: boolean;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Looks at the new file before it takes the old one's place. */
  readonly check: (path: string) => Promise<Verdict>;
}

/** Clean, wrong for good, or better after another round: cutting damage out can lay open what it hid. */
export type Verdict =
  | { readonly clean: true }
  | { readonly wrong: string; readonly better?: AsyncIterable<Uint8Array> };

const ROUNDS = 3;

/** Refuses a file that somebody else may be writing: half a record of theirs would be taken for damage. */
export function refuseBusy(path: string, stat: BigIntStats, now: number): void {
  const age = now - Number(stat.mtimeNs / 1_000_000n);
  if (age >= QUIET_MS || age < -QUIET_MS) return;
  throw new HoldfastError("TRANSCRIPT_BUSY", { file: path, why: `it changed ${Math.max(0, age)} ms ago` });
}

/** Puts new bytes in a file's place, with the old ones beside it. Either both happened or nothing did. */
export async function replaceFile(replacement: Replacement): Promise<string> {
  const { path, stat } = replacement;
  const temp = join(dirname(path), `.${basename(path)}.holdfast-${process.pid}`);
  const finished = unfinished(temp);
  try {
    await writeClean(temp, replacement);
    if (!isSame(stat, statOf(path))) throw changed(path);
    const backup = backUp(path);
    if (!isSame(stat, statOf(path))) {
      rmSync(backup, { force: true });
      throw changed(path);
    }
    renameSync(temp, path);
    syncFolder(dirname(path));
    return backup;
  } catch (error) {
    rmSync(temp, { force: true });
    if (HoldfastError.is(error)) throw error;
    const system = String((error as NodeJS.ErrnoException).code);
    throw new HoldfastError("TRANSCRIPT_NOT_WRITTEN", { file: path, system }, { cause: error });
  } finally {
    finished();
  }
}

/** Writes the new file until it is clean. */
async function writeClean(temp: string, { path, stat, gzip, bytes, check }: Replacement): Promise<void> {
  const next = `${temp}-2`;
  const finished = unfinished(next);
  try {
    await writeSynced(temp, bytes, gzip, stat);
    for (let round = 1; ; round += 1) {
      const verdict = await check(temp);
      if ("clean" in verdict) return;
      if (verdict.better === undefined || round === ROUNDS) {
        throw new HoldfastError("TRANSCRIPT_NOT_REPAIRED", { file: path, why: verdict.wrong });
      }
      await writeSynced(next, verdict.better, gzip, stat);
      renameSync(next, temp);
    }
  } finally {
    rmSync(next, { force: true });
    finished();
  }
}

function changed(path: string): HoldfastError {
  return new HoldfastError("TRANSCRIPT_BUSY", { file: path, why: "it changed while it was read" });
}

async function writeSynced(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  gzip: boolean,
  { mode, uid, gid }: BigIntStats,
): Promise<void> {
  const rights = Number(mode & 0o7777n);
  rmSync(path, { force: true }); // left by a killed process that had our number
  const handle = await open(path, "wx", rights);
  try {
    await handle.chown(Number(uid), Number(gid)).catch(() => {}); // only root may; without it root would take the file over
    await handle.chmod(rights); // the umask must not narrow what others may read
    for await (const chunk of gzip ? piped(bytes, createGzip()) : bytes) await writeAll(handle, chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length; ) at += (await handle.write(chunk, at)).bytesWritten;
}

/** A copy beside the file, synced, under the first free name: an older backup may be the only whole one. */
function backUp(path: string): string {
  for (let nth = 0; ; nth += 1) {
    const backup = nth === 0 ? `${path}.bak` : `${path}.bak.${nth}`;
    try {
      copyFileSync(path, backup, constants.COPYFILE_EXCL);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST" && nth < 1_000) continue;
      throw error;
    }
    syncPath(backup);
    return backup;
  }
}
