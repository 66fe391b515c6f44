import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHoldfast, type Filesystem, HoldfastError } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import type { Rig } from "./rig.ts";
import { ended, removeFolder, scratchFolder, startChild } from "./scratch.ts";
import { describe } from "./workload.ts";

const SECRET = "nobody in the workspace may read this";
/** No file of this name is ever in the workspace: whoever finds one has looked outside. */
const SEEN = "saw the secret";
/** One write takes as long as many reads, and races the longer. */
const WRITE_EVERY = 40;
/** Answers to a folder that is now there and now not. */
const ANSWERS = new Set([
  "FILE_BAD_PATH",
  "FILE_NOT_FOUND",
  "FILE_CONFLICT",
  "FILE_NOT_FOLDER",
  "FILE_IS_FOLDER",
  "FILE_EXISTS",
  "FILE_NOT_WRITABLE",
  "FILE_OTHER_DEVICE",
  "WORKSPACE_IO",
  "WORKSPACE_PENDING", // decided, and then a link stood in the way: it waits inside, and says so
]);

const READS: readonly ((files: Filesystem) => Promise<unknown>)[] = [
  (files) => files.readText("dir/secret"),
  (files) => files.readText("dir/own"),
  (files) => files.list("dir"),
  async (files) => ((await files.stat("dir/secret")) === undefined ? undefined : SEEN),
  async (files) => ((await files.exists("dir/secret")) ? SEEN : undefined),
];
const WRITES: readonly ((files: Filesystem, n: number) => Promise<unknown>)[] = [
  (files, n) => files.writeText("dir/own", `own ${n}`),
  (files, n) => files.writeText(`dir/new-${n % 5}`, `new ${n}`),
  (files, n) => files.writeText(`dir/deep/${n % 5}`, `deep ${n}`),
  (files) => files.delete("dir/secret"),
  (files) => files.chmod("dir/secret", 0o777),
  (files, n) => files.move("dir/own", `moved-${n}`),
];

/** Reads and writes in a folder that is swapped for a link out of the workspace all the time. */
export const escape: Rig = {
  about: "a swapper puts links out of the workspace in the place of a folder: nothing outside is read or changed",
  cases: 100_000,
  quickCases: 12_000,
  async run(tally, { cases }) {
    const base = scratchFolder("escape");
    const [root, outside] = [join(base, "root"), join(base, "outside")];
    for (const folder of [join(root, "dir"), outside]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(root, "dir/own"), "own");
    writeFileSync(join(outside, "secret"), SECRET);
    const program = fileURLToPath(new URL("swapper.ts", import.meta.url));
    const swapper = startChild(process.execPath, [program, JSON.stringify({ root, outside })], { stdio: "inherit" });
    const holdfast = await createHoldfast({
      store: sqlite(join(base, "store.db"), { durability: "process" }),
      workspace: root,
    });
    const session = await holdfast.open("escape");
    try {
      for (let n = 0; n < cases; n += 1) {
        const wrong: string[] = [];
        const writes = n % WRITE_EVERY === 0;
        try {
          const use = writes ? WRITES[(n / WRITE_EVERY) % WRITES.length] : READS[n % READS.length];
          const answer = await use?.(session.files, n);
          tally.count(writes ? "writes that went through" : "reads that went through");
          if (JSON.stringify(answer ?? null).includes("secret")) wrong.push(`read outside: ${JSON.stringify(answer)}`);
          if (answer === SECRET) wrong.push("read the secret");
        } catch (error) {
          const code = HoldfastError.is(error) ? error.code : "";
          if (!ANSWERS.has(code)) wrong.push(describe(error));
        }
        if (writes) wrong.push(...outsideOf(outside));
        tally.done(`try ${n}`, wrong);
      }
    } finally {
      swapper.kill("SIGKILL");
      await ended(swapper);
      await session.close();
      await holdfast.close();
    }
    for (const what of outsideOf(outside)) tally.violation("end", what);
    removeFolder(base);
  },
};

/** Outside there is the secret, unchanged, and now and then the folder that the swapper itself carries. */
function outsideOf(outside: string): readonly string[] {
  const names = readdirSync(outside).filter((name) => name !== "carried" && name !== "secret");
  const secret = readFileSync(join(outside, "secret"), "utf8");
  return [...names.map((name) => `${name} was made outside`), ...(secret === SECRET ? [] : ["the secret was changed"])];
}
