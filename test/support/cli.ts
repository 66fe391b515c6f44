import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";
import { main } from "../../src/cli/main.ts";
import { createHoldfast, defineTool, type Holdfast, type HoldfastOptions, type Session } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { counter, diary, steps } from "./calls.ts";
import { SILENT } from "../../src/cli/silent.ts";

export const BIN: string = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Desk {
  /** An empty folder for this test. */
  readonly folder: string;
  env: Record<string, string>;
  /** A command in this process, as in a pipe. */
  run(...argv: readonly string[]): Promise<Ran>;
  /** The same, in a terminal of so many columns. */
  seen(columns: number, ...argv: readonly string[]): Promise<Ran>;
  /** The command itself, in a process of its own. */
  spawn(...argv: readonly string[]): Ran;
  json<T = Readonly<Record<string, unknown>>>(...argv: readonly string[]): Promise<T>;
}

/** A folder for each test, and the command in it. */
export function desk(): Desk {
  let folder = "";
  const made: Desk = {
    get folder() {
      return folder;
    },
    env: {},
    run: (...argv) => inProcess(argv, {}),
    seen: (columns, ...argv) => inProcess(argv, { columns }),
    spawn(...argv) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...argv], {
        encoding: "utf8",
        cwd: folder,
        env: { PATH: process.env["PATH"], ...made.env },
      });
      return { code: status, out: stdout, err: stderr };
    },
    async json<T>(...argv: readonly string[]) {
      return JSON.parse((await inProcess([...argv, "--json"], {})).out) as T;
    },
  };
  const inProcess = async (argv: readonly string[], more: { readonly columns?: number }): Promise<Ran> => {
    const said = { out: [] as string[], err: [] as string[] };
    const code = await main(argv, {
      ...SILENT,
      out: (line) => said.out.push(line),
      err: (line) => said.err.push(line),
      write: (text) => said.out.push(text),
      cwd: folder,
      env: made.env,
      ...more,
    });
    return { code, out: said.out.join("\n"), err: said.err.join("\n") };
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
    made.env = { HOME: join(folder, "home") };
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return made;
}

export const TOOLS = [
  defineTool<{ readonly path: string; readonly text: string; readonly fail?: boolean }>({
    name: "write",
    access: "write",
    async run({ path, text, fail }, call) {
      await call.files.writeText(path, text);
      call.dispatch(steps.added(path));
      call.dispatch(counter.added(1));
      call.dispatch(diary.said(path));
      return fail === true ? call.fail("no", "that failed") : `wrote ${path}`;
    },
  }),
  defineTool<string>({
    name: "pay",
    access: "external",
    effects: { payment: { run: () => "receipt", undo: () => {} } },
    run: (order, call) => call.effect("payment", {}, { key: order }),
  }),
  defineTool({ name: "deploy", access: "external", approval: true, run: () => "deployed" }),
];

/** The program whose sessions the command looks at: its slices and tools are its own. */
export async function program(folder: string, options: Partial<HoldfastOptions> = {}): Promise<Holdfast> {
  mkdirSync(join(folder, ".holdfast"), { recursive: true });
  return createHoldfast({
    store: sqlite(join(folder, ".holdfast", "sessions.db"), { durability: "process" }),
    workspace: folder,
    tools: TOOLS,
    slices: [steps, counter, diary],
    ...options,
  });
}

export interface Made {
  readonly calls: readonly string[];
}

/** A session of three writes in the folder, the last of which failed. */
export async function threeWrites(folder: string, id = "work"): Promise<Made> {
  const holdfast = await program(folder);
  const session = await holdfast.open(id);
  await session.append({ kind: "user-said", text: "Write three files, please." });
  const calls = [await write(session, "a.txt"), await write(session, "b.txt"), await write(session, "c.txt", true)];
  await session.close();
  await holdfast.close();
  return { calls };
}

export async function write(session: Session, path: string, fail = false): Promise<string> {
  return (await session.runTool({ name: "write", input: { path, text: `text of ${path}`, fail } })).callId;
}

export function project(folder: string, text: string): void {
  writeFileSync(join(folder, "holdfast.toml"), text);
}
