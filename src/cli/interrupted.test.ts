import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { BIN, desk, program } from "../../test/support/cli.ts";
import { defineTool, type Holdfast, type SessionRow, toSessionId } from "../index.ts";
import { inspectSqlite } from "../stores/sqlite/entry.ts";

const at = desk();
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** What the command may do between two looks at how far it is. */
const STEP_MS = 8;

/** The command in a process of its own, ended by somebody as soon as it has begun. It stands still
 * while they look: on a busy machine it would be done before they had seen it begin. */
async function interrupted(
  argv: readonly string[],
  hasBegun: () => boolean | Promise<boolean>,
  signal: NodeJS.Signals = "SIGINT",
): Promise<{ readonly code: number | null; readonly said: string }> {
  const child = spawn(process.execPath, [BIN, ...argv], { cwd: at.folder });
  children.push(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  const answer = () => said.replaceAll(/^….*\n/gm, ""); // how far it is
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  for (let begun = false; !begun; ) {
    child.kill("SIGCONT");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STEP_MS); // a timer may come late, and it would run on
    child.kill("SIGSTOP");
    await sleep(1);
    if (child.exitCode !== null) throw new Error(`it ended before it was seen to begin: ${said}`);
    begun = await hasBegun();
  }
  child.kill(signal);
  child.kill("SIGCONT");
  return { code: await ended, said: answer() };
}

const named = (part: string) => () => readdirSync(at.folder).some((name) => name.includes(part));

/** A session that takes a while to read. */
async function long(holdfast: Holdfast, id: string, records: number): Promise<void> {
  const session = await holdfast.open(id);
  for (let nth = 0; nth < records; nth += 500)
    await session.append(
      Array.from({ length: 500 }, (_, at) => ({ kind: "user-said", text: `${"word ".repeat(40)}${nth + at}` })),
    );
  await session.checkpoint(); // where retention may cut
  await session.close();
}

async function prepared(make: (holdfast: Holdfast) => Promise<void>): Promise<void> {
  const holdfast = await program(at.folder);
  await make(holdfast);
  await holdfast.close();
}

/** What importers are taking in, or have left. */
async function importing(): Promise<readonly SessionRow[]> {
  const store = await inspectSqlite(join(at.folder, ".holdfast", "sessions.db"));
  try {
    const rows = await store.reading((read) => read.sessions(toSessionId("importing:"), 10));
    return rows.filter((row): row is SessionRow => !("damaged" in row) && row.id.startsWith("importing:"));
  } finally {
    await store.close();
  }
}

/** A session as the store knows it, read from outside. */
async function rowOf(id: string): Promise<SessionRow | undefined> {
  const store = await inspectSqlite(join(at.folder, ".holdfast", "sessions.db"));
  try {
    return await store.reading((read) => read.session(toSessionId(id)));
  } finally {
    await store.close();
  }
}

/** Whether a row is there and so; while somebody opens the store it may not be seen. */
const isSo = (id: string, so: (row: SessionRow) => boolean) => async () => {
  const row = await rowOf(id).catch(() => undefined);
  return row !== undefined && so(row);
};

describe("[CLI-22] interrupted in the middle, with exit code 130,", () => {
  test("export leaves no file, neither whole nor half, and told to end it does the same with 143", async () => {
    await prepared((holdfast) => long(holdfast, "work", 8_000));
    const before = readdirSync(at.folder);
    for (const [signal, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      expect(await interrupted(["export", "work", "--out", "work.tar"], named(".part"), signal)).toEqual({
        code,
        said: "",
      });
      expect(readdirSync(at.folder)).toEqual(before);
    }
    expect(at.spawn("export", "work", "--out", "work.tar")).toMatchObject({ code: 0 });
  });

  test("import leaves no session, and takes the same file in afterwards", async () => {
    await prepared((holdfast) => long(holdfast, "work", 8_000));
    expect(at.spawn("export", "work", "--out", "work.tar")).toMatchObject({ code: 0 });
    const begun = async () => (await importing().catch(() => [])).some(({ head }) => head.seq > 0);
    expect(await interrupted(["import", "work.tar", "--as", "theirs"], begun)).toEqual({ code: 130, said: "" });
    expect(await importing()).toEqual([]);
    expect(await rowOf("theirs")).toBeUndefined();
    expect(at.spawn("verify")).toMatchObject({ code: 0 });
    // Killed, it cannot take anything back; whoever comes next does.
    expect(await interrupted(["import", "work.tar", "--as", "theirs"], begun, "SIGKILL")).toMatchObject({ code: null });
    expect(await rowOf("theirs")).toBeUndefined();
    expect(await importing()).toHaveLength(1);
    expect(at.spawn("sessions").out).not.toContain("importing");
    expect(at.spawn("import", "work.tar", "--as", "theirs")).toMatchObject({ code: 0 });
    expect(await importing()).toEqual([]);
  });

  test("verify --salvage leaves no file, and verify nothing in the temporary folder", async () => {
    await prepared((holdfast) => long(holdfast, "work", 20_000));
    const before = readdirSync(at.folder);
    expect(await interrupted(["verify", "--salvage", "out.jsonl"], named(".part"))).toEqual({ code: 130, said: "" });
    expect(readdirSync(at.folder)).toEqual(before);
    expect(at.spawn("verify", "--salvage", "out.jsonl")).toMatchObject({ code: 0 });
  });

  test("gc leaves a store that is whole, and the next one finishes it", async () => {
    const ids = Array.from({ length: 30 }, (_, nth) => `work-${String(nth).padStart(2, "0")}`);
    await prepared(async (holdfast) => {
      for (const id of ids) await long(holdfast, id, 500);
    });
    const bounds = ["--keep-records", "1", "--grace", "0s"];
    const begun = isSo("work-00", ({ anchor }) => anchor.seq > 0);
    expect(await interrupted(["gc", ...bounds], begun)).toEqual({ code: 130, said: "" });
    expect(at.spawn("verify")).toMatchObject({ code: 0 });
    expect((await rowOf("work-29"))?.anchor.seq).toBe(0);
    expect(at.spawn("gc", ...bounds)).toMatchObject({ code: 0 });
    expect(at.spawn("verify")).toMatchObject({ code: 0 });
  });

  describe("with five hundred files", () => {
    const FILES = Array.from({ length: 500 }, (_, nth) => `file-${nth}.txt`);
    const many = defineTool<string>({
      name: "many",
      access: "write",
      async run(text, call) {
        for (const path of FILES) await call.files.writeText(`many/${path}`, text);
        return "done";
      },
    });
    async function twice(): Promise<void> {
      const holdfast = await program(at.folder, { tools: [many] });
      const session = await holdfast.open("work");
      for (const input of ["old", "new"])
        expect(await session.runTool({ name: "many", input })).toMatchObject({ ok: true });
      await session.close();
      await holdfast.close();
    }
    const textsIn = (folder: string) => new Set(FILES.map((path) => readFileSync(join(folder, "many", path), "utf8")));

    test("rewind has happened or not, and the next one finds the session in order", async () => {
      await twice();
      const begun = isSo("work", ({ owner }) => owner !== null);
      expect(await interrupted(["rewind", "work", "--before", "last"], begun)).toEqual({ code: 130, said: "" });
      const holdfast = await program(at.folder, { tools: [many] });
      await (await holdfast.open("work")).close(); // whoever opens it finishes what was decided
      await holdfast.close();
      expect(textsIn(at.folder).size).toBe(1);
      expect(at.spawn("verify")).toMatchObject({ code: 0 });
    });

    test("fork leaves its origin as it was, nothing that can be opened, and its name free", async () => {
      await twice();
      const origin = await rowOf("work");
      const argv = ["fork", "work", "--after", "last", "--as", "again"];
      const begun = isSo("again", () => true);
      expect(await interrupted([...argv, "--workspace", "again"], begun)).toEqual({ code: 130, said: "" });
      expect(textsIn(at.folder)).toEqual(new Set(["new"]));
      expect((await rowOf("work"))?.head).toEqual(origin?.head);
      expect(at.spawn("verify")).toMatchObject({ code: 0 });
      const holdfast = await program(at.folder, { tools: [many] });
      await expect(holdfast.open("again")).rejects.toMatchObject({ code: "FORK_UNFINISHED" });
      await holdfast.close();
      at.env["HOME"] = tmpdir(); // a home inside the workspace is refused
      expect(at.spawn(...argv, "--memory")).toMatchObject({ code: 0 });
    });
  });
});
