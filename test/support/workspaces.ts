import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";
import { fileBlobs } from "../../src/blobs/files/entry.ts";
import {
  createHoldfast,
  type Filesystem,
  type Holdfast,
  type HostPort,
  realHost,
  type Session,
} from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { Call } from "../../src/transaction/call.ts";
import type { SessionOptions } from "../../src/turn/holdfast-options.ts";
import { writes } from "./calls.ts";
import { scratchFolder } from "./places.ts";

const scratch = scratchFolder();
let places = 0;

export interface Working {
  readonly holdfast: Holdfast;
  readonly session: Session;
  readonly root: string;
  readonly store: string;
}

export interface At {
  readonly root: string;
  readonly store: string;
  /** Where it keeps large content; else beside itself. */
  readonly blobs?: string;
  /** Whether what is acknowledged must survive a loss of power. Default false: it takes longer. */
  readonly synced?: boolean;
}

/** An empty folder of its own, outside the store. */
export function freshRoot(): At {
  places += 1;
  const folder = join(scratch, `workspace-${places}`);
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true });
  return { root, store: join(folder, "store.db") };
}

/** A session in a folder. */
export async function inWorkspace(options: SessionOptions = {}, at: At = freshRoot()): Promise<Working> {
  const holdfast = await createHoldfast({
    store: sqlite(at.store, {
      durability: at.synced === true ? "power" : "process",
      ...(at.blobs === undefined ? {} : { blobs: fileBlobs(at.blobs) }),
    }),
    workspace: at.root,
    ...options,
  });
  try {
    return { root: at.root, store: at.store, holdfast, session: await holdfast.open("s") };
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

export type Edit = (call: Call) => Promise<unknown>;

const edits = new Map<string, Edit>();
/** A tool that does what the test says: one that may run again, and one that may not. */
const HANDS = [
  writes<string>("hand", (name, call) => edits.get(name)?.(call)),
  writes<string>("once", (name, call) => edits.get(name)?.(call), { retryable: false }),
];

const atWork: Working[] = [];
afterEach(async () => {
  for (const { session, holdfast } of atWork.splice(0)) {
    await session.close().catch(() => {}); // some tests leave it with something in its way
    await holdfast.close().catch(() => {});
  }
});

/** A session in a folder, with a hand to change files and eyes to see them as a user does. Closed when the test ends. */
export async function work(options: SessionOptions = {}, at = freshRoot()) {
  const { tools = [], ...rest } = options;
  const one = await inWorkspace({ tools: [...HANDS, ...tools], ...rest }, at);
  atWork.push(one);
  const on = (path: string) => join(one.root, path);
  return {
    ...one,
    on,
    files: one.session.files,
    text: (path: string) => (existsSync(on(path)) ? readFileSync(on(path), "utf8") : undefined),
    put: (path: string, text: string) => {
      mkdirSync(dirname(on(path)), { recursive: true });
      writeFileSync(on(path), text);
    },
    /** One call that does this; its outcome. */
    run: (edit: Edit, name: "hand" | "once" = "hand", session: Session = one.session) => {
      edits.set("now", edit);
      return session.runTool({ name, input: "now" });
    },
    journalled: async (kind: string) => {
      const found: unknown[] = [];
      for await (const entry of one.session.read()) if (entry.kind === kind) found.push(entry);
      return found;
    },
    /** What lies in rescue, as texts. */
    rescued: () => {
      const folder = on(".holdfast/workspace/rescue");
      const names = readdirSync(folder).filter((name) => !name.endsWith(".note"));
      return names.map((name) => readFileSync(join(folder, name), "utf8")).toSorted();
    },
  };
}

/** A disk that does not write some texts. */
export function refusingDisk(refuses: (text: string) => boolean): HostPort {
  return {
    ...realHost,
    write: (handle, bytes, offset, length, position) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
      if (refuses(text)) throw Object.assign(new Error("the disk"), { code: "EIO" });
      return realHost.write(handle, bytes, offset, length, position);
    },
  };
}

/** A disk on which nothing is written any more of plans that are done, or only a few times. */
export function forgetfulDisk() {
  const state = { notes: Number.POSITIVE_INFINITY };
  const isNote = (text: string) => text.startsWith("applied ") || text === "none\n";
  return { state, port: refusingDisk((text) => isNote(text) && (state.notes -= 1) < 0) };
}

/** A disk that tells what was synced, by its path in the workspace. Linux only. */
export function tellingDisk(root: string) {
  const synced = new Set<string>();
  const port: HostPort = {
    ...realHost,
    sync: (handle) => {
      synced.add(readlinkSync(`/proc/self/fd/${handle}`).slice(root.length + 1));
      return realHost.sync(handle);
    },
  };
  return { synced, port };
}
