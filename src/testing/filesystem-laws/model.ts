import { deepStrictEqual } from "node:assert/strict";
import { HoldfastError } from "../../base/errors.ts";
import { SeededRandom } from "../../base/random.ts";
import type { Filesystem } from "../../contracts/filesystem.ts";
import { InMemoryFilesystem } from "../../index.ts";
import type { FilesystemBook } from "./context.ts";

const RUNS = 8;
const STEPS = 60;
const NAMES = ["a", "b", "c"] as const;

/** Whatever is done, in whatever order: the same answers, the same refusals, the same files as the one in memory. */
export const model: FilesystemBook = [
  [
    "[FILE-16] any sequence of operations gives what it gives in memory, refusals included",
    async ({ open }) => {
      for (let run = 0; run < RUNS; run += 1) {
        const random = new SeededRandom(`filesystem-laws/${run}`);
        const [theirs, ours] = [await open(), new InMemoryFilesystem() as Filesystem];
        for (let step = 0; step < STEPS; step += 1) {
          const { name, act } = anyStep(random);
          const about = `run ${run}, step ${step}: ${name}`;
          deepStrictEqual(await answerOf(act(theirs)), await answerOf(act(ours)), about);
          if (step % 10 === 9) deepStrictEqual(await everything(theirs), await everything(ours), about);
        }
      }
    },
  ],
];

function anyStep(random: SeededRandom): {
  readonly name: string;
  readonly act: (files: Filesystem) => Promise<unknown>;
} {
  const place = () => Array.from({ length: 1 + random.below(3) }, () => random.pick(NAMES)).join("/");
  const [path, to, text, mode] = [place(), place(), random.hex(1 + random.below(3)), random.pick([0o600, 0o755])];
  return random.pick([
    { name: `write ${path} ${text}`, act: (files: Filesystem) => files.writeText(path, text) },
    { name: `write ${to} ${text}`, act: (files: Filesystem) => files.writeText(to, text) },
    { name: `delete ${path}`, act: (files: Filesystem) => files.delete(path) },
    { name: `delete all ${path}`, act: (files: Filesystem) => files.delete(path, { recursive: true }) },
    { name: `move ${path} ${to}`, act: (files: Filesystem) => files.move(path, to) },
    { name: `mkdir ${path}`, act: (files: Filesystem) => files.mkdir(path) },
    { name: `chmod ${path} ${mode}`, act: (files: Filesystem) => files.chmod(path, mode) },
    { name: `link ${path} ${to}`, act: (files: Filesystem) => files.link(path, to) },
    { name: `read ${path}`, act: (files: Filesystem) => files.readText(path) },
    { name: `list ${path}`, act: (files: Filesystem) => files.list(path) },
    { name: `stat ${path}`, act: (files: Filesystem) => files.stat(path) },
    { name: `edit ${path}`, act: (files: Filesystem) => files.edit(path, { find: /./, replace: text, all: true }) },
  ]);
}

async function answerOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (HoldfastError.is(error)) return error.code;
    throw error;
  }
}

async function everything(files: Filesystem, folder = ""): Promise<unknown> {
  const found: unknown[] = [];
  for (const { name, kind } of await files.list(folder)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    found.push(kind === "folder" ? [path, await everything(files, path)] : [path, await files.stat(path)]);
  }
  return found;
}
