import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createHoldfast, type Filesystem, type Holdfast, type Session } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { SessionOptions } from "../../src/turn/resume.ts";
import { scratchFolder } from "./places.ts";

const scratch = scratchFolder();
let places = 0;

export interface Working {
  readonly holdfast: Holdfast;
  readonly session: Session;
  readonly root: string;
  readonly store: string;
}

/** An empty folder of its own, outside the store. */
export function freshRoot(): { readonly root: string; readonly store: string } {
  places += 1;
  const folder = join(scratch, `workspace-${places}`);
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true });
  return { root, store: join(folder, "store.db") };
}

/** A session in a folder, on a store that need not survive a loss of power. */
export async function inWorkspace(
  options: SessionOptions = {},
  at: { readonly root: string; readonly store: string } = freshRoot(),
): Promise<Working> {
  const holdfast = await createHoldfast({
    store: sqlite(at.store, { durability: "process" }),
    workspace: at.root,
    ...options,
  });
  try {
    return { holdfast, session: await holdfast.open("s"), ...at };
  } catch (error) {
    await holdfast.close();
    throw error;
  }
}

/** The files of a call that stays open. */
export async function insideCall(session: Session): Promise<Filesystem> {
  const pending = await session.begin({ name: "hand", input: {} });
  return pending.call.files;
}
