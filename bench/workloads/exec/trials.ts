import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createHoldfast, defineTool, type DriverName, type Holdfast, type Session } from "../../../src/index.ts";
import { sqlite } from "../../../src/stores/sqlite/entry.ts";
import type { Fixture, Task, Trial } from "../../harness/contract.ts";
import { defineTrial } from "../../harness/trial.ts";
import { digestOf, rootIn, touched, treeOf } from "../workspace/tree.ts";
import { lineFor, runPlainly, type Way } from "./ways.ts";

const WARM = 2;

interface Edited {
  readonly root: string;
  readonly paths: readonly string[];
  readonly before: string;
}

function editedIn(task: Task): Edited {
  const [root, paths] = [rootIn(task.fixture), touched(task)];
  return { root, paths, before: digestOf(root, paths) };
}

/** A command that changes three files, and the way back, by somebody else's means. */
export function byWay(cell: string, way: Way): Trial {
  return defineTrial({
    fixture: treeOf(`exec ${cell}`),
    times: 3,
    prepare: (task) => {
      const beside = join(task.folder, "beside");
      mkdirSync(task.folder, { recursive: true });
      return { ...editedIn(task), beside, ready: way.prepare?.(rootIn(task.fixture), beside) };
    },
    run: ({ root, beside, paths, ready }) => way.round(root, beside, () => runPlainly(root, lineFor(paths)), ready),
    verify: (_, ready) => unchanged(ready),
  });
}

/** The same in a call that fails, so that it is undone. */
export function undone(driver: DriverName): Trial {
  return defineTrial({
    fixture: treeOf(`exec ${driver}`),
    times: 5,
    prepare: async (task) => {
      const ready = editedIn(task);
      const kernel = await open(task, ready.root, driver, false);
      const round = () => kernel.run(lineFor(ready.paths));
      for (let warm = 0; warm < WARM; warm += 1) await round();
      return { ...ready, ...kernel, round };
    },
    run: ({ round }) => round(),
    figures: (added) => ({ added }),
    verify: async (_, ready) => {
      await ready.close();
      return unchanged(ready);
    },
  });
}

const EMPTY: Fixture = {
  name: "an empty project",
  build: (_, folder) => void mkdirSync(rootIn(folder), { recursive: true }),
};

/** A command that makes many files, in a call that keeps them. */
export function kept(driver: DriverName): Trial {
  return defineTrial({
    fixture: { ...EMPTY, name: `an empty project for ${driver}` },
    prepare: (task) => open(task, rootIn(task.fixture), driver, true),
    run: ({ run, round }) => run(makes(round)),
    figures: (added) => ({ added }),
    verify: async (_, { close, root, round, size }) => {
      await close();
      return counted(root, round, size);
    },
  });
}

/** The same by a plain shell. */
export function plainly(): Trial {
  return defineTrial({
    fixture: { ...EMPTY, name: "an empty project for a shell" },
    prepare: (task) => ({ root: rootIn(task.fixture), ...task }),
    run: ({ root, size, round }) => runPlainly(root, makes({ size, round })),
    verify: (_, { root, round, size }) => counted(root, { round, size }, size),
  });
}

interface Many {
  readonly size: number;
  readonly round: number;
}

function makes({ size, round }: Many): string {
  return `mkdir -p out-${round} && cd out-${round} && seq 1 ${size} | xargs -n 500 sh -c 'for n; do echo "$n" > "$n"; done' sh`;
}

function counted(root: string, { round }: Many, size: number): string {
  const found = readdirSync(join(root, `out-${round}`)).length;
  if (found !== size) throw new Error(`${found} files and not ${size}`);
  return `${size} files`;
}

/** `run` answers what the call took beyond the command itself, in nanoseconds. */
async function open(task: Task, root: string, driver: DriverName, keeps: boolean) {
  mkdirSync(task.folder, { recursive: true });
  let elapsed = 0;
  const shell = defineTool<string>({
    name: "shell",
    access: "execute",
    async run(line, call) {
      const { exitCode, elapsed: took } = await call.exec(line);
      if (exitCode !== 0) throw new Error(`the command ended with ${exitCode}`);
      elapsed = took;
      return keeps ? "kept" : call.fail("undone", "as was meant");
    },
  });
  const store = sqlite(join(task.folder, "store.db"));
  const limits = { paths: 1_000_000 };
  const kernel: Holdfast = await createHoldfast({
    store,
    workspace: { root, limits },
    tools: [shell],
    exec: { driver },
  });
  const session: Session = await kernel.open("bench");
  return {
    root,
    size: task.size,
    round: { size: task.size, round: task.round },
    run: async (line: string) => {
      const from = performance.now();
      const { ok, reason } = await session.runTool({ name: "shell", input: line });
      if (ok !== keeps || (!ok && reason !== "undone")) throw new Error(`the call ended as ${reason}`);
      return (performance.now() - from - elapsed) * 1e6;
    },
    close: async () => {
      await session.close();
      await kernel.close();
    },
  };
}

function unchanged({ root, paths, before }: Edited): string {
  if (digestOf(root, paths) !== before) throw new Error("the files are not as they were");
  return "as they were"; // every cell has a tree of its own
}
