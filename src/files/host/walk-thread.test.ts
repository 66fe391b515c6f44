import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { scratchFolder } from "../../../test/support/places.ts";
import { type HostPort, realHost } from "./port.ts";
import { type SecondWalker, type Walked, walkTree } from "./walk.ts";
import { WalkThread } from "./walk-thread.ts";

const scratch = scratchFolder();
let places = 0;
const freshFolder = () => {
  places += 1;
  const base = join(scratch, `tree-${places}`);
  mkdirSync(base, { recursive: true });
  return base;
};

const threads: WalkThread[] = [];
afterEach(() => {
  for (const thread of threads.splice(0)) thread.close();
});
async function thread(...args: ConstructorParameters<typeof WalkThread>): Promise<WalkThread> {
  const made = new WalkThread(...args);
  threads.push(made);
  for (let waited = 0; !made.isThere && waited < 1_000; waited += 1) await pause(10);
  return made;
}

/** A thread of our own making, that has this to say to every walk. */
function saying(words: string): URL {
  places += 1;
  const file = join(scratch, `thread-${places}.mjs`);
  writeFileSync(
    file,
    `import { workerData } from "node:worker_threads";
     const { port, there } = workerData;
     port.on("message", ({ walk, folders, shared }) => { const state = new Int32Array(shared); ${words} });
     Atomics.store(new Int32Array(there), 0, 1);`,
  );
  return pathToFileURL(file);
}

/** Leaves every folder to the thread. */
const lazy = (second: SecondWalker): SecondWalker => ({
  share: (...args) => {
    const walk = second.share(...args);
    return walk === undefined ? undefined : { ...walk, next: () => Number.MAX_SAFE_INTEGER };
  },
});

const isOwn = (path: string) => path.split("/").some((name) => name.startsWith(".holdfast-"));
const walked = (base: string, second?: SecondWalker, port: HostPort = realHost) =>
  walkTree({ port, base, isOwn, second });
const told = ({ root, entries, uncovered, unnamed }: Walked) => ({
  root,
  entries: [...entries].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  uncovered: uncovered.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  unnamed: unnamed.map(({ path, at }) => `${path} ${Buffer.from(at).toString("hex")}`).toSorted(),
});

/** Thirty folders with everything in them that can be in a folder, some of it deep. */
function motley(base: string): void {
  for (let nth = 0; nth < 30; nth += 1) {
    const folder = join(base, `d${nth}`, "deep", "deeper");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "file"), "x".repeat(nth));
    writeFileSync(join(base, `d${nth}`, ".holdfast-own"), "ours");
    symlinkSync("file", join(folder, "link"));
  }
  execFileSync("mkfifo", [join(base, "d3", "pipe")]);
  writeFileSync(Buffer.concat([Buffer.from(join(base, "d4/")), Buffer.from([0xff, 0x61])]), "no text");
}

test("[EXEC-28] two threads find what one finds, and folders come before what is in them", async () => {
  const base = freshFolder();
  motley(base);
  const second = await thread();
  let shared = 0;
  const counting: SecondWalker = {
    share: (...args) => {
      const walk = second.share(...args);
      if (walk !== undefined) shared += 1;
      return walk;
    },
  };
  const alone = told(walked(base));
  expect(alone.entries.length).toBeGreaterThan(100);
  expect(alone.uncovered.map(({ why }) => why)).toEqual(["special", "not-text"]);
  for (let round = 0; round < 20; round += 1) {
    const both = walked(base, round % 2 === 0 ? counting : lazy(counting));
    expect(told(both)).toEqual(alone);
    const seen = new Set<string>();
    for (const path of both.entries.keys()) {
      const parent = path.lastIndexOf("/");
      expect(parent === -1 || seen.has(path.slice(0, parent))).toBe(true);
      seen.add(path);
    }
  }
  expect(shared).toBe(20);
});

test("[EXEC-28] whatever the tree looks like, two threads find what one finds", async () => {
  const second = await thread();
  const name = fc.constantFrom("a", "b", "c", "é", "with space", ".holdfast-x", "…");
  const path = fc.array(name, { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(fc.array(path, { maxLength: 30 }), (paths) => {
      const base = freshFolder();
      for (const names of paths) mkdirSync(join(base, ...names), { recursive: true });
      for (const [nth, names] of paths.entries()) writeFileSync(join(base, ...names, `file-${nth}`), `${nth}`);
      const alone = told(walked(base));
      expect(told(walked(base, second))).toEqual(alone);
      expect(told(walked(base, lazy(second)))).toEqual(alone);
    }),
    { numRuns: 60 },
  );
});

test.each([
  [
    "says that it failed",
    `port.postMessage({ walk }); Atomics.add(state, 0, 5); Atomics.store(state, 1, 1); Atomics.notify(state, 1);`,
  ],
  [
    "says that it is done and answers nothing",
    `Atomics.add(state, 0, 5); Atomics.store(state, 1, 1); Atomics.notify(state, 1);`,
  ],
  ["takes folders and never answers", `Atomics.add(state, 0, 7);`],
  ["takes everything and never answers", `Atomics.add(state, 0, folders.length);`],
  ["ends in the middle", `Atomics.add(state, 0, 3); process.exit(1);`],
])("[EXEC-28] a thread that %s costs time, and nothing that it took is missed", async (_, words) => {
  const base = freshFolder();
  motley(base);
  const alone = told(walked(base));
  const second = await thread(saying(words), 300);
  for (let round = 0; round < 3; round += 1) expect(told(walked(base, second))).toEqual(alone);
});

test("[EXEC-28] the answer to a walk that failed is not taken for that of the next", async () => {
  const [base, other] = [freshFolder(), freshFolder()];
  motley(base);
  writeFileSync(join(other, "only"), "file");
  const second = await thread();
  const failing: HostPort = {
    ...realHost,
    textNames: (path) => {
      if (path.endsWith("/deep")) throw Object.assign(new Error("EIO"), { code: "EIO" });
      return realHost.textNames(path);
    },
  };
  expect(() => walked(base, second, failing)).toThrow("EIO");
  expect([...walked(other, second).entries.keys()]).toEqual(["only"]);
  expect(told(walked(base, second))).toEqual(told(walked(base)));
});

test("[EXEC-28] what is told of a tree does not depend on who found it", async () => {
  const base = freshFolder();
  for (let nth = 0; nth < 40; nth += 1) {
    mkdirSync(join(base, `d${nth}`));
    execFileSync("mkfifo", [join(base, `d${nth}`, "pipe")]);
  }
  const second = await thread();
  const orders = Array.from({ length: 20 }, () => JSON.stringify(walked(base, second).uncovered));
  expect(new Set(orders).size).toBe(1);
});

test("[EXEC-28] a thread that ended is not asked again", async () => {
  const second = await thread(saying(""));
  expect(second.isThere).toBe(true);
  const dying = await thread(saying("process.exit(0);"), 300);
  const base = freshFolder();
  motley(base);
  walked(base, dying);
  for (let waited = 0; dying.isThere && waited < 500; waited += 1) await pause(10);
  expect(dying.isThere).toBe(false);
});

test("[EXEC-28] one that is slow and alive is waited for", async () => {
  const base = freshFolder();
  motley(base);
  const slow = `let beats = 0; const timer = setInterval(() => {
    beats += 1; Atomics.add(state, 2, 1);
    if (beats < 12) return;
    clearInterval(timer);
    const found = { paths: "slow", numbers: new Float64Array(6), exact: new BigInt64Array(4), uncovered: [], unnamed: [] };
    port.postMessage({ walk, found }); Atomics.store(state, 1, 1); Atomics.notify(state, 1);
  }, 50);`;
  const second = await thread(saying(slow), 200);
  expect(walked(base, second).entries.has("slow")).toBe(true);
  expect(second.isThere).toBe(true);
});

test("[EXEC-28] where no thread may be had, walks go on without one", () => {
  const script = join(scratch, "denied.ts");
  const [walk, port, made] = ["walk.ts", "port.ts", "walk-thread.ts"].map((name) => join(import.meta.dirname, name));
  const base = freshFolder();
  motley(base);
  writeFileSync(
    script,
    `import { walkTree } from "${walk}"; import { realHost } from "${port}"; import { WalkThread } from "${made}";
     const second = new WalkThread();
     const { entries } = walkTree({ port: realHost, base: "${base}", isOwn: () => false, second });
     console.log(second.isThere, entries.size);`,
  );
  const out = execFileSync(process.execPath, ["--permission", "--allow-fs-read=*", script], { encoding: "utf8" });
  expect(out.trim()).toBe(`false ${walkTree({ port: realHost, base, isOwn: () => false }).entries.size}`);
});

test("[EXEC-28] a thread that cannot begin is done without", async () => {
  const base = freshFolder();
  motley(base);
  const second = new WalkThread(pathToFileURL(join(scratch, "nowhere.mjs")));
  threads.push(second);
  await pause(300);
  expect(second.isThere).toBe(false);
  expect(told(walked(base, second))).toEqual(told(walked(base)));
});
