import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Call, defineTool } from "../../src/index.ts";
import { type Driver, eachDriver, plainly, portrait, withCommands } from "../support/commands.ts";
import { freshRoot } from "../support/workspaces.ts";

/** What is done to one path, or from one to another: by a command, or with the call's own files. */
interface Deed {
  readonly by: "command" | "files";
  readonly what: "write" | "move" | "chmod" | "delete" | "mkdir";
  readonly path: string;
  readonly to: string;
  readonly mode: number;
}

const PATHS = ["a.txt", "d", "d/b.txt", "d/e", "d/e/c.txt", "new", "new/in"];
const PAIRS = PATHS.flatMap((path) => PATHS.map((to) => ({ path, to })));
const anyDeeds = fc.array(
  fc.record({
    by: fc.constantFrom<Deed["by"]>("command", "files"),
    what: fc.constantFrom<Deed["what"]>("write", "move", "move", "chmod", "delete", "mkdir"),
    mode: fc.constantFrom(0o744, 0o755, 0o700),
    which: fc.nat({ max: 1000 }),
  }),
  { minLength: 2, maxLength: 6 },
);

function laid() {
  const at = freshRoot();
  for (const [path, text] of [
    ["a.txt", "one\n"],
    ["d/b.txt", "bee\n"],
    ["d/e/c.txt", "sea\n"],
  ] as const) {
    mkdirSync(dirname(join(at.root, path)), { recursive: true });
    writeFileSync(join(at.root, path), text);
  }
  return at;
}

/** A call that does this, in a workspace as it is laid out. */
async function inOneCall(driver: Driver, work: (call: Call) => Promise<unknown>) {
  const at = laid();
  const run = async (_: unknown, call: Call) => {
    await work(call);
    return "done";
  };
  const { session } = await withCommands(driver, { tools: [defineTool({ name: "mix", access: "execute", run })] }, at);
  const before = portrait(at.root, { times: false });
  return {
    root: at.root,
    before,
    run: async () => ({ session, ...(await session.runTool({ name: "mix", input: {} })) }),
  };
}

function isPossible(root: string, { by, what, path, to }: Deed): boolean {
  const [there, place] = [kindOf(root, path), kindOf(root, to)];
  const inFolder = (one: string) => dirname(one) === "." || kindOf(root, dirname(one)) === "folder";
  if (what === "write") return there !== "folder" && inFolder(path);
  if (what === "mkdir") return there === undefined && inFolder(path);
  if (what === "move") return there !== undefined && place === undefined && inFolder(to) && !to.startsWith(`${path}/`);
  return what === "chmod" && by === "files" ? there === "file" : there !== undefined;
}

function kindOf(root: string, path: string): "file" | "folder" | undefined {
  const at = join(root, path);
  if (!existsSync(at)) return undefined;
  return lstatSync(at).isDirectory() ? "folder" : "file";
}

function lineOf({ what, path, to, mode }: Deed): string {
  const lines: Readonly<Record<Deed["what"], string>> = {
    write: `echo ${mode} > ${path}`,
    move: `mv ${path} ${to}`,
    chmod: `chmod ${mode.toString(8)} ${path}`,
    delete: `rm -r ${path}`,
    mkdir: `mkdir ${path}`,
  };
  return lines[what];
}

async function doneBy(call: Call, deed: Deed): Promise<unknown> {
  const { by, what, path, to, mode } = deed;
  if (by === "command") return call.exec(lineOf(deed));
  const { files } = call;
  if (what === "write") return files.writeText(path, `${mode}\n`);
  if (what === "move") return files.move(path, to);
  if (what === "chmod") return files.chmod(path, mode);
  return what === "mkdir" ? files.mkdir(path) : files.delete(path, { recursive: true });
}

function textAt(root: string, path: string): string | undefined {
  return existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined;
}

eachDriver((driver) => {
  test("[EXEC-7] [EXEC-8] [HOST-10] what a call does with commands and with its files, in whatever order, is what a shell makes of it, and is taken back whole", async () => {
    await fc.assert(
      fc.asyncProperty(anyDeeds, async (deeds) => {
        const plain = laid();
        const possible = deeds.flatMap(({ which, ...rest }): readonly Deed[] => {
          const all = PAIRS.map((pair) => ({ ...rest, ...pair })).filter((one) => isPossible(plain.root, one));
          const deed = all[which % all.length];
          if (deed === undefined) return [];
          plainly(plain.root, lineOf(deed));
          return [deed];
        });
        const { root, before, run } = await inOneCall(driver, async (call) => {
          for (const deed of possible) await doneBy(call, deed);
        });
        const { ok, output, callId, session } = await run();
        expect([ok, output]).toEqual([true, "done"]);
        expect(portrait(root, { times: false })).toEqual(portrait(plain.root, { times: false }));
        expect((await session.rewind({ before: callId })).files?.kept).toEqual([]);
        expect(portrait(root, { times: false })).toEqual(before);
        await session.close();
      }),
      { numRuns: 10 },
    );
  });

  test.each<[string, (call: Call) => Promise<unknown>, Readonly<Record<string, string | undefined>>]>([
    [
      "a folder that a command moved is moved on",
      async (call) => {
        await call.exec("mv d dd");
        await call.files.move("dd", "ddd");
        return (await call.exec("cat ddd/b.txt")).stdout.text;
      },
      { "ddd/b.txt": "bee\n", "d/b.txt": undefined },
    ],
    [
      "a new file is moved and made executable",
      async (call) => {
        await call.exec("echo bee > q1");
        await call.files.move("q1", "q2");
        await call.files.chmod("q2", 0o755);
        return (await call.exec("test -x q2 && cat q2")).stdout.text;
      },
      { q2: "bee\n", q1: undefined },
    ],
    [
      "two files change places before a command",
      async (call) => {
        await call.files.move("a.txt", "t");
        await call.files.move("d/b.txt", "a.txt");
        await call.files.move("t", "d/b.txt");
        return (await call.exec("cat a.txt")).stdout.text;
      },
      { "a.txt": "bee\n", "d/b.txt": "one\n" },
    ],
    [
      "a file that a command changed and another brought back is read and moved",
      async (call) => {
        await call.exec("cp -p d/b.txt k; echo more >> d/b.txt");
        await call.exec("mv k d/b.txt");
        await call.exec("true");
        await call.files.move("d/b.txt", "b.txt");
        return call.files.readText("b.txt");
      },
      { "b.txt": "bee\n", "d/b.txt": undefined },
    ],
    [
      "a command could not be started after the call had written and moved",
      async (call) => {
        await call.files.writeText("a.txt", "two\n");
        await call.files.move("d/b.txt", "b.txt");
        await expect(call.exec(`: ${"x".repeat(3_000_000)}`)).rejects.toMatchObject({ code: "EXEC_NOT_STARTED" });
        return call.files.readText("b.txt");
      },
      { "a.txt": "two\n", "b.txt": "bee\n", "d/b.txt": undefined },
    ],
    [
      "everything that a command made is deleted again",
      async (call) => {
        await call.exec("mkdir n; echo 1 > n/1");
        await call.files.delete("n", { recursive: true });
        return call.files.readText("d/b.txt");
      },
      { n: undefined, "d/b.txt": "bee\n" },
    ],
    [
      "one of two names that a command gave a file is written",
      async (call) => {
        await call.exec("echo bee > one; ln one two");
        await call.files.writeText("two", "eeb\n");
        return call.files.readText("one");
      },
      { one: "bee\n", two: "eeb\n" },
    ],
    [
      "a file is written in a folder whose mode a command changed",
      async (call) => {
        await call.exec("chmod 700 d; echo x > d/b.txt; mkdir n; echo y > n/1");
        await call.files.writeText("n/1", "z\n");
        await call.files.writeText("d/b.txt", "bee\n".repeat(2));
        return "bee\n";
      },
      { "d/b.txt": "bee\nbee\n", "n/1": "z\n" },
    ],
    [
      "a folder that the call moved away is moved back by a command, with another mode",
      async (call) => {
        await call.files.move("d", "new");
        await call.exec("chmod 700 new; mv new d");
        return (await call.exec("cat d/b.txt")).stdout.text;
      },
      { "d/b.txt": "bee\n" },
    ],
    [
      "a folder that the call has put in the place of another is given its mode by a command",
      async (call) => {
        await call.exec("mkdir new");
        await call.files.delete("d", { recursive: true });
        await call.files.move("new", "d");
        return (await call.exec("chmod 700 d; echo bee")).stdout.text;
      },
      { "d/b.txt": undefined },
    ],
  ])("[EXEC-7] [EXEC-12] %s", async (_what, work, due) => {
    const said: unknown[] = [];
    const { root, before, run } = await inOneCall(driver, async (call) => said.push(await work(call)));
    const { ok, output, callId, session } = await run();
    expect([ok, output, said]).toEqual([true, "done", ["bee\n"]]);
    for (const [path, text] of Object.entries(due)) expect([path, textAt(root, path)]).toEqual([path, text]);
    expect((await session.rewind({ before: callId })).files?.kept).toEqual([]);
    expect(portrait(root, { times: false })).toEqual(before);
  });

  test("[HOST-10] [EXEC-12] a folder that one call removed, and a command of the next made anew, comes back with its mode", async () => {
    const at = laid();
    const access = "execute";
    const tools = [
      defineTool({ name: "remove", access, run: (_, { files }) => files.delete("d", { recursive: true }) }),
      defineTool({ name: "make", access, run: async (_, call) => void (await call.exec("mkdir -m 700 d")) }),
    ];
    const { session } = await withCommands(driver, { tools }, at);
    const before = portrait(at.root, { times: false });
    const [removed, made] = [
      await session.runTool({ name: "remove", input: {} }),
      await session.runTool({ name: "make", input: {} }),
    ];
    expect([removed.ok, made.ok]).toEqual([true, true]);
    const planned = await session.rewind({ before: removed.callId, dryRun: true });
    const done = await session.rewind({ before: removed.callId });
    expect(done.files).toMatchObject({ kept: [], unlike: [], files: planned.files?.files });
    expect(portrait(at.root, { times: false })).toEqual(before);
    await session.close();
  });
});
