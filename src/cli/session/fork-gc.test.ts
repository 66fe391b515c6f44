import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { desk, program, threeWrites, write } from "../../../test/support/cli.ts";
import { steps } from "../../../test/support/calls.ts";
import { genesisOf } from "../../records/chain.ts";
import { toSessionId } from "../../records/ids.ts";
import { testTogether } from "../../../test/support/together.ts";

const at = desk();

describe("holdfast fork", () => {
  test("[CLI-10] goes on in a folder of its own, with the files as they were; the origin is not touched", async () => {
    const { calls } = await threeWrites(at.folder);
    const there = join(at.folder, "..", `${at.folder.split("/").at(-1)}-fork`);
    const argv = ["fork", "work", "--after", calls[0] ?? "", "--as", "again", "--workspace", there];
    expect(await at.json(...argv, "--dry-run")).toMatchObject({ ok: true, done: false, session: "again" });
    expect(existsSync(there)).toBe(false);
    expect((await at.json<{ sessions: unknown[] }>("sessions")).sessions).toHaveLength(1);
    expect(await at.json(...argv)).toMatchObject({ ok: true, done: true, from: "work" });
    expect(readFileSync(join(there, "a.txt"), "utf8")).toBe("text of a.txt");
    expect(existsSync(join(there, "b.txt"))).toBe(false);
    expect(existsSync(join(at.folder, "b.txt"))).toBe(true);
    const holdfast = await program(at.folder, { workspace: there });
    const fork = await holdfast.open("again");
    expect(fork.state.session.get(steps)).toEqual(["a.txt"]);
    await write(fork, "d.txt");
    expect(existsSync(join(there, "d.txt"))).toBe(true);
    await fork.close();
    await holdfast.close();
    expect((await at.run("sessions")).out).toMatch(/again .* fork/);
    rmSync(there, { recursive: true });
  });

  test("[CLI-10] without a folder its files are read-only, in memory they can change, and neither reaches the disk", async () => {
    await threeWrites(at.folder);
    expect((await at.run("fork", "work", "--before", "last", "--as", "looks")).out).toContain("read and not changed");
    expect(await at.run("fork", "work", "--before", "last", "--as", "dreams", "--memory")).toMatchObject({ code: 0 });
    const holdfast = await program(at.folder);
    const looks = await holdfast.open("looks");
    expect(looks.filesPart?.host.mode).toBe("read-only");
    await looks.close();
    const dreams = await holdfast.open("dreams");
    await write(dreams, "dream.txt");
    expect(await dreams.files.readText("dream.txt")).toBe("text of dream.txt");
    expect(existsSync(join(at.folder, "dream.txt"))).toBe(false);
    await dreams.close();
    await holdfast.close();
  });

  test("[CLI-10] a fork of a session in plan mode is in plan mode, also from before it was", async () => {
    const { calls } = await threeWrites(at.folder);
    const holdfast = await program(at.folder);
    const session = await holdfast.open("work");
    await session.setMode("plan");
    await session.close();
    await holdfast.close();
    expect(await at.json("fork", "work", "--after", calls[0] ?? "", "--as", "careful")).toMatchObject({ mode: "plan" });
    expect(await at.json("show", "careful")).toMatchObject({ mode: "plan" });
  });

  test("[CLI-10] refuses a name that is taken, a folder that is not empty, and no name at all; nothing is made", async () => {
    await threeWrites(at.folder);
    mkdirSync(join(at.folder, "full"));
    writeFileSync(join(at.folder, "full", "x"), "x");
    for (const argv of [
      ["--as", "work"],
      ["--as", "../x"],
      ["--as", "new", "--workspace", "full"],
      ["--as", "new", "--workspace", "w", "--memory"],
      [],
    ])
      expect(await at.run("fork", "work", "--after", "last", ...argv)).toMatchObject({ code: 2 });
    expect((await at.json<{ sessions: unknown[] }>("sessions")).sessions).toHaveLength(1);
  });
});

describe("holdfast gc", () => {
  async function long(): Promise<void> {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("long");
    for (let n = 0; n < 600; n += 1) await session.append({ kind: "user-said", text: `${n} ${"x".repeat(200)}` });
    await session.close();
    await holdfast.close();
  }

  test("[CLI-11] forgets what is out of bounds and gives its space back; a dry run tells the same and changes nothing", async () => {
    await long();
    const argv = ["gc", "--keep-records", "300"];
    const dry = await at.json<{ sessions: { forgotten: number }[] }>(...argv, "--dry-run");
    expect(dry.sessions[0]?.forgotten).toBeGreaterThan(100);
    expect(await at.json("show", "long")).toMatchObject({ records: { oldest: 1 } });
    const done = await at.json<{ sessions: unknown[]; swept: { records: number } }>(...argv);
    expect(done.sessions).toEqual(dry.sessions);
    expect(done.swept.records).toBe(dry.sessions[0]?.forgotten);
    expect(await at.json("verify")).toMatchObject({ ok: true });
    expect((await at.json<{ records: { oldest: number } }>("show", "long")).records.oldest).toBeGreaterThan(100);
  });

  testTogether("[CLI-11] leaves a session alone that somebody is writing or was cut off at, and says so", async () => {
    await long();
    const holdfast = await program(at.folder);
    const session = await holdfast.open("long");
    expect(await at.json("gc", "--keep-records", "10")).toMatchObject({ sessions: [{ forgotten: 0, left: "in use" }] });
    await holdfast.store.close(); // its process is gone, and nobody closed the session
    expect((await at.run("gc", "--keep-records", "10")).out).toContain("long: left alone, cut off");
    expect(session.journal.head.seq).toBeGreaterThan(600);
    expect(await at.json("sessions")).toMatchObject({ sessions: [{ id: "long", writer: "died" }] });
  });

  test("[CLI-11] [BUNDLE-8] tells how many imports it removed that had been cut off, and in a dry run how many it would", async () => {
    const holdfast = await program(at.folder);
    for (const digit of ["a", "b"]) {
      const session = toSessionId(`importing:${digit.repeat(32)}`);
      await holdfast.store.commit({ kind: "create", session, at: "2026-01-01T00:00:00Z", genesis: genesisOf(session) });
    }
    await holdfast.close();
    expect((await at.run("gc", "--dry-run")).out).toContain("would remove 2 imports that had been cut off");
    expect(await at.json("gc", "--dry-run")).toMatchObject({ swept: { imports: 2 } });
    expect((await at.run("gc")).out).toContain("removed 2 imports that had been cut off");
    expect((await at.run("gc")).out).not.toContain("import");
  });

  test("[CLI-11] [CONFIG-1] takes its bounds from flags, then from the configuration; bad ones are refused", async () => {
    await long();
    at.env["HOLDFAST_RETENTION_AGE"] = "30d";
    expect(await at.json("gc", "--dry-run", "--keep-bytes", "10 kB")).toMatchObject({
      bounds: { bytes: 10_000, ageMs: 2_592_000_000 },
    });
    for (const argv of [
      ["--keep-for", "soon"],
      ["--keep-bytes", "-1"],
      ["--keep-records", "1.5"],
      ["one", "two", "--keep-records", "1"],
    ])
      expect(await at.run("gc", ...argv)).toMatchObject({ code: 2 });
  });
});
