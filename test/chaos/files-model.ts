import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { createHoldfast, defineSlice, defineTool, type Holdfast, type Session } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { SessionOptions } from "../../src/turn/holdfast-options.ts";

/** What the session knows of itself: after call n, every file must say n. */
export const reached = defineSlice("reached", { initial: 0, on: { set: (_: number, n: number) => n } });

const WRITTEN = ["a.txt", "dir/b.txt", "dir/deep/c.txt"] as const;
const PAD = "x".repeat(3_000);

/** Everything the workspace holds after call n: files rewritten, one made and one removed, one moved, a link, a mode, the folders. */
export function manifest(n: number): ReadonlyMap<string, string> {
  const files = new Map<string, string>(WRITTEN.map((path, at) => [path, `644 ${n}:${at}:${PAD}`]));
  files.set(n % 2 === 0 ? "even/walker" : "odd/walker", "644 walker");
  files.set("run.sh", n % 3 === 0 ? "755 run" : "644 run");
  files.set("link", `link ${WRITTEN[n % WRITTEN.length]}`);
  if (n > 0) files.set(`made/${n}/file`, `644 made by ${n}`);
  for (const path of files.keys())
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) files.set(folder, "folder");
  return files;
}

/** The folder as it is before the first call. */
export function lay(root: string): void {
  for (const folder of ["dir/deep", "even"]) mkdirSync(join(root, folder), { recursive: true });
  for (const [path, what] of manifest(0)) {
    if (what === "folder") continue;
    if (what.startsWith("link ")) symlinkSync(what.slice(5), join(root, path));
    else {
      writeFileSync(join(root, path), what.slice(4));
      chmodSync(join(root, path), Number.parseInt(what, 8));
    }
  }
}

const step = defineTool<{ readonly n: number }>({
  name: "step",
  access: "write",
  async run({ n }, call) {
    const { files } = call;
    for (const [at, path] of WRITTEN.entries()) await files.writeText(path, `${n}:${at}:${PAD}`);
    const [from, to] = n % 2 === 0 ? ["odd", "even"] : ["even", "odd"];
    await files.move(`${from}/walker`, `${to}/walker`);
    await files.delete(from);
    await files.chmod("run.sh", n % 3 === 0 ? 0o755 : 0o644);
    await files.delete("link");
    await files.link("link", WRITTEN[n % WRITTEN.length] ?? "");
    if (await files.exists("made")) await files.delete("made", { recursive: true });
    await files.writeText(`made/${n}/file`, `made by ${n}`);
    call.dispatch(reached.set(n));
  },
});

/** The same by a command, which also leaves a process behind that must not be there afterwards. */
const shellStep = defineTool<{ readonly n: number }>({
  name: "step",
  access: "execute",
  async run({ n }, call) {
    const [from, to] = n % 2 === 0 ? ["odd", "even"] : ["even", "odd"];
    const line = [
      ...WRITTEN.map((path, at) => `printf '%s' '${n}:${at}:${PAD}' > ${path}`),
      'setsid /bin/sh -c "while :; do sleep 0.2; done" "$PWD" > /dev/null 2>&1 &',
      `mkdir ${to} && mv ${from}/walker ${to}/walker && rmdir ${from}`,
      `chmod ${n % 3 === 0 ? 755 : 644} run.sh && ln -sfn ${WRITTEN[n % WRITTEN.length]} link`,
      `rm -rf made && mkdir -p made/${n} && printf '%s' 'made by ${n}' > made/${n}/file`,
    ].join("\n");
    const { exitCode, stderr } = await call.exec(line);
    if (exitCode !== 0) return call.fail("exit", `${exitCode} ${stderr.text}`);
    call.dispatch(reached.set(n));
    return n;
  },
});

export type Driver = "overlay" | "portable";

export interface FilesPlace {
  readonly root: string;
  readonly store: string;
  /** Changed by commands, with this protection, and not by the call's own files. */
  readonly driver?: Driver;
}

/** Why commands cannot be run with a driver here. */
export function driverMissing(driver: Driver): string | undefined {
  if (driver === "portable") return undefined;
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-current-user", "--keep-caps"];
  return spawnSync("unshare", [...user, "--mount", "true"]).status === 0 ? undefined : "no namespaces here";
}

/** Processes of a workspace's commands. */
export function leftRunning(root: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^[0-9]+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith(`\0${root}\0`);
    } catch {
      return false; // gone meanwhile
    }
  });
}

export async function openFiles(
  { root, store, driver }: FilesPlace,
  options: SessionOptions = {},
): Promise<{ readonly holdfast: Holdfast; readonly session: Session }> {
  const holdfast = await createHoldfast({
    store: sqlite(store),
    workspace: root,
    tools: [driver === undefined ? step : shellStep],
    ...(driver === undefined ? {} : { exec: { driver } }),
    slices: [reached],
    ...options,
  });
  try {
    return { holdfast, session: await holdfast.open("files") };
  } catch (error) {
    await holdfast.close();
    throw error;
  }
}

/** What lies there, but for what is ours. Everything of ours that is seen is a violation. */
export function treeOf(root: string, below = ""): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(root, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    if (path === ".holdfast") continue;
    const stat = lstatSync(join(root, path));
    if (stat.isDirectory()) {
      found.set(path, "folder"); // an empty one that stays behind stops the next call's mkdir
      for (const [inner, what] of treeOf(root, path)) found.set(inner, what);
    } else if (stat.isSymbolicLink()) found.set(path, `link ${readlinkSync(join(root, path))}`);
    else found.set(path, `${(stat.mode & 0o777).toString(8)} ${readFileSync(join(root, path), "utf8")}`);
  }
  return found;
}

/** How a tree differs from what it must be, in few words. */
export function unlikeness(tree: ReadonlyMap<string, string>, must: ReadonlyMap<string, string>): readonly string[] {
  const wrong: string[] = [];
  for (const path of new Set([...tree.keys(), ...must.keys()])) {
    const [is, should] = [tree.get(path), must.get(path)];
    if (is === should) continue;
    wrong.push(`${path} is ${is?.slice(0, 24) ?? "missing"} and should be ${should?.slice(0, 24) ?? "missing"}`);
  }
  return wrong;
}
