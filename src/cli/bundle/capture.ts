import { lstatSync, mkdirSync, readdirSync, type Stats, unlinkSync } from "node:fs";
import { join } from "node:path";
import type { Holdfast } from "../../index.ts";
import type { Terminal } from "../command.ts";
import type { Values } from "../config/settings.ts";
import { environment } from "./environment.ts";
import { writeWhole } from "./file.ts";

const ENDING = ".bundle.tar";

export interface CaptureOptions {
  readonly folder: string;
  /** How many bundles stay in the folder; 0 for all. */
  readonly keep: number;
}

/** Whether, and where, a session is kept as a bundle when its work is over. */
export function captureIn(values: Values, failed: boolean): CaptureOptions | undefined {
  const folder = values["capture.folder"];
  if (folder === undefined || (!failed && values["capture.when"] !== "always")) return undefined;
  return { folder, keep: values["capture.keep"] ?? 0 };
}

/**
 * Keeps the session as a bundle, for whoever looks into it later, and makes room for it. Whatever goes wrong here is said
 * and changes nothing: the work is done, well or not, before it is captured.
 */
export async function capture(
  holdfast: Holdfast,
  session: string,
  { folder, keep }: CaptureOptions,
  terminal: Pick<Terminal, "err">,
): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const at = new Date().toISOString().replaceAll(/[:.]/g, "-");
    const file = join(folder, `${session}.${at}${ENDING}`);
    const bundle = holdfast.exportBundle(session, { environment: environment(holdfast.store.durability) });
    await writeWhole("capture.folder", file, bundle);
    terminal.err(`captured: ${file}`);
    if (keep > 0) makeRoom(folder, keep);
  } catch (error) {
    terminal.err(`not captured: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Removes the oldest bundles beyond `keep`. What is a link, or was changed since it was looked at, is somebody else's. */
export function makeRoom(folder: string, keep: number, beforeRemoving: (path: string) => void = () => {}): void {
  const bundles = readdirSync(folder)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => ({ path: join(folder, name), seen: lstatSync(join(folder, name)) }))
    .filter(({ seen }) => seen.isFile())
    .toSorted((a, b) => a.seen.mtimeMs - b.seen.mtimeMs || (a.path < b.path ? -1 : 1));
  for (const { path, seen } of bundles.slice(0, Math.max(0, bundles.length - keep))) {
    beforeRemoving(path);
    if (isSame(seen, lstatSync(path, { throwIfNoEntry: false }))) unlinkSync(path);
  }
}

function isSame(before: Stats, now: Stats | undefined): boolean {
  return (
    now !== undefined &&
    now.isFile() &&
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs
  );
}
