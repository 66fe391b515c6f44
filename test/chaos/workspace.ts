import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHoldfast, defineTool, type Holdfast, HoldfastError, type Session } from "../../src/index.ts";
import { nameOfBytes } from "../../src/records/blob-name.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { MeddlerOrders, Saved } from "./meddler.ts";
import { pause, type Rig, type Tally, within } from "./rig.ts";
import { ended, removeFolder, scratchFolder, startChild } from "./scratch.ts";
import { driverMissing } from "./files-model.ts";
import { describe } from "./workload.ts";

/** So many calls, rewinds and openings share a folder and a user. */
const STEPS = 25;
const SAVED = ["a", "b", "c", "dir/d", "dir/e"] as const;
const OPEN = ["log", "dir/log"] as const;
const PATHS = [...SAVED, ...OPEN] as const;

const change = defineTool<{ readonly n: number; readonly paths: readonly string[] }>({
  name: "change",
  access: "write",
  async run({ n, paths }, { files }) {
    for (const path of paths) {
      const before = (await files.exists(path)) ? await files.readText(path) : "";
      await files.writeText(path, `agent ${n} after ${before.slice(0, 40)}`);
    }
  },
});
const remove = defineTool<{ readonly paths: readonly string[] }>({
  name: "remove",
  access: "write",
  async run({ paths }, { files }) {
    for (const path of paths) if (await files.exists(path)) await files.delete(path);
  },
});

/** The same by a command, some of which fail in the end. */
const command = defineTool<{ readonly n: number; readonly paths: readonly string[] }>({
  name: "command",
  access: "execute",
  async run({ n, paths }, call) {
    const lines = paths.map((path) => (n % 5 === 0 ? `rm -f ${path}` : `mkdir -p dir; echo 'command ${n}' > ${path}`));
    const { exitCode } = await call.exec(`${lines.join("\n")}\nsleep 0.0${n % 7}; exit ${n % 4 === 0 ? 1 : 0}`);
    return exitCode === 0 ? "kept" : call.fail("exit", "undone");
  },
});

export const workspace: Rig = {
  about:
    "a user edits and rename-saves in the same folder while calls commit, rewind and recover: nothing they wrote is lost",
  cases: 10_000,
  quickCases: 300,
  async run(tally, { cases, seed }) {
    const why = driverMissing("overlay");
    if (why !== undefined) tally.skipped.push(`commands: ${why}`);
    for (let at = 0; at < cases; at += STEPS) await interleave(tally, `${seed}/${at}`, Math.min(STEPS, cases - at));
  },
};

async function interleave(tally: Tally, seed: string, steps: number): Promise<void> {
  const folder = scratchFolder("workspace");
  const [root, store] = [join(folder, "root"), join(folder, "store.db")];
  mkdirSync(root);
  execFileSync("git", ["init", "-q", root], { stdio: "ignore" });
  const git = digestOf(join(root, ".git"));
  const user = startUser({ root, seed, paths: SAVED, open: OPEN });
  while (user.saved.length === 0) await pause(5);
  const tools = [change, remove, command];
  const open = async () => {
    const holdfast = await createHoldfast({
      store: sqlite(store),
      workspace: root,
      tools,
      exec: { driver: "overlay" },
    });
    return { holdfast, session: await holdfast.open("agent") };
  };
  let { holdfast, session } = await open();
  try {
    for (let step = 0; step < steps; step += 1) {
      const wrong: string[] = [];
      try {
        if (tally.random.below(10) === 0) {
          await session.close();
          await holdfast.close();
          ({ holdfast, session } = await open());
        } else await act(tally, session, step);
      } catch (error) {
        // Somebody who never stops saving may keep a rewind out; anything else is wrong.
        if (!HoldfastError.is(error, "FILE_CONFLICT") || error.details["system"] !== undefined)
          wrong.push(describe(error));
        tally.count("rewinds kept out");
      }
      tally.done(`${seed} step ${step}`, wrong);
    }
    user.child.kill("SIGSTOP");
    await pause(20);
  } finally {
    user.child.kill("SIGKILL");
    await user.ended;
  }
  tally.count("saves of the user", user.saved.length);
  for (const lost of await lostOf(user.saved, root, holdfast)) tally.violation(seed, lost);
  if (digestOf(join(root, ".git")) !== git) tally.violation(seed, ".git was changed");
  await session.close();
  await holdfast.close();
  removeFolder(folder);
}

async function act(tally: Tally, session: Session, n: number): Promise<void> {
  const { random } = tally;
  const paths = [...new Set([random.pick(PATHS), random.pick(PATHS)])];
  const kind = random.below(8);
  if (kind === 0) {
    const target = session.checkpoints
      .list()
      .filter(({ rewound }) => !rewound)
      .at(-1 - random.below(3));
    if (target === undefined) return;
    const { files } = await within(30_000, "a rewind", session.rewind({ before: target.callId }));
    tally.count("paths a rewind kept", files?.kept.length ?? 0);
    return;
  }
  const name = kind === 1 ? "remove" : kind < 4 && driverMissing("overlay") === undefined ? "command" : "change";
  const { ok, reason } = await within(30_000, "a call", session.runTool({ name, input: { n, paths } }));
  tally.count(ok ? (name === "command" ? "commands kept" : "commits") : `refused: ${reason}`);
  // The user may also have removed a file between the tool's two looks at it.
  if (!ok && !["conflict", "FILE_CONFLICT", "FILE_NOT_FOUND", "exit"].includes(reason))
    throw new Error(`a call ended as ${reason}`);
}

/** Versions of the user's that are nowhere: not in place, not written over by the user, not in rescue, not kept. */
async function lostOf(saved: readonly Saved[], root: string, holdfast: Holdfast): Promise<readonly string[]> {
  const rescue = join(root, ".holdfast/workspace/rescue");
  const somewhere = new Set<string>();
  for (const path of PATHS) {
    const text = textAt(join(root, path));
    if (text !== undefined) somewhere.add(text);
    const beside = textAt(join(root, `${path}.swp`));
    if (beside !== undefined) somewhere.add(beside);
  }
  for (const name of readdirSync(rescue)) somewhere.add(textAt(join(rescue, name)) ?? "");
  for (const { over } of saved) somewhere.add(over); // the user saw it there and replaced it
  const lost: string[] = [];
  // The newest save may have been cut off before it was made.
  for (const { path, text } of saved.slice(0, -1)) {
    if (text === "" || somewhere.has(text)) continue;
    const name = nameOfBytes(Buffer.from(text));
    const kept = await holdfast.store.reading((read) => read.smallBlob(name));
    if (kept === undefined) lost.push(`${path}: "${text.slice(0, 40)}" is nowhere`);
  }
  return lost;
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // not there, or no file: then it is not kept here
  }
}

function startUser(orders: MeddlerOrders) {
  const program = fileURLToPath(new URL("meddler.ts", import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", program, JSON.stringify(orders)];
  const child = startChild(process.execPath, args, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const saved: Saved[] = [];
  let rest = "";
  const drained = new Promise<void>((resolve) => {
    const pipe = child.stdio[3] as NodeJS.ReadableStream;
    pipe.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString("utf8")).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) saved.push(JSON.parse(line) as Saved);
    });
    pipe.on("close", () => resolve());
  });
  return { child, saved, ended: Promise.all([ended(child), drained]) };
}

function digestOf(folder: string): string {
  const hash = createHash("sha256");
  const walk = (path: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      hash.update(entry.name);
      if (entry.isDirectory()) walk(join(path, entry.name));
      else hash.update(readFileSync(join(path, entry.name)));
    }
  };
  walk(folder);
  return hash.digest("hex");
}
