/**
 * A user at work in the same folder: saves in place, saves by renaming over, deletes, writes into files that were opened long
 * ago, at random and without asking anybody. What it says on fd 3: every version it wrote, and which of its own versions it
 * saw when it wrote over one.
 *
 *   node meddler.ts '{"root": …, "seed": …, "paths": […]}'
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { SeededRandom } from "../../src/index.ts";

export interface MeddlerOrders {
  readonly root: string;
  readonly seed: string;
  readonly paths: readonly string[];
  /** Files that it opens and writes to much later, and that nobody but the agent removes. */
  readonly open: readonly string[];
}

/** A version of the user's. `over`: what was in the file that it was written into, or that it replaced or removed. */
export interface Saved {
  readonly kind: "saved";
  readonly path: string;
  readonly text: string;
  readonly over: string;
}

const { root, seed, paths, open } = JSON.parse(process.argv[2] ?? "{}") as MeddlerOrders;
const random = new SeededRandom(seed);
let versions = 0;

function say(path: string, text: string, over: string): void {
  writeSync(3, `${JSON.stringify({ kind: "saved", path, text, over } satisfies Saved)}\n`);
}

const WAYS: readonly ((path: string, text: string) => void)[] = [
  // As some editors do.
  (path, text) => {
    const handle = openSync(join(root, path), constants.O_RDWR | constants.O_CREAT, 0o644);
    try {
      fill(path, text, handle);
    } finally {
      closeSync(handle);
    }
  },
  // As others do: written beside, then renamed over.
  (path, text) => {
    const temporary = join(root, `${path}.swp`);
    writeFileSync(temporary, text);
    const before = readFileSync(join(root, path), "utf8");
    say(path, text, before);
    renameSync(temporary, join(root, path));
  },
  (path) => {
    const before = readFileSync(join(root, path), "utf8");
    say(path, "", before);
    unlinkSync(join(root, path));
  },
];

const HELD = 3;
const held: { readonly path: string; readonly handle: number }[] = [];

/** As a program does that keeps its files open: it writes into the file that it knows, wherever that lies by now. */
function writeOn(path: string, text: string): void {
  if (held.length < HELD) {
    held.push({ path, handle: openSync(join(root, path), constants.O_RDWR | constants.O_CREAT, 0o644) });
    return;
  }
  const [{ path: known, handle } = { path, handle: -1 }] = held.splice(random.below(HELD), 1);
  try {
    fill(known, text, handle);
  } finally {
    closeSync(handle);
  }
}

/** The same file, cut to nothing and filled again. */
function fill(path: string, text: string, handle: number): void {
  const { size } = fstatSync(handle);
  const before = Buffer.alloc(size);
  readSync(handle, before, 0, size, 0);
  say(path, text, before.toString("utf8"));
  ftruncateSync(handle, 0);
  if (random.below(3) === 0) spin();
  writeSync(handle, text, 0);
}

/** A moment between two system calls. */
function spin(): void {
  const end = performance.now() + random.fraction();
  while (performance.now() < end);
}

for (;;) {
  versions += 1;
  const writesOn = random.below(4) === 0;
  const path = random.pick(writesOn ? open : paths);
  const way = writesOn ? writeOn : WAYS[random.pick([0, 0, 0, 1, 1, 1, 1, 2])];
  try {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    way?.(path, `user ${seed} ${versions} ${"u".repeat(random.below(200))}`);
  } catch (error) {
    if (!["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  const end = performance.now() + random.below(4);
  while (performance.now() < end);
}
