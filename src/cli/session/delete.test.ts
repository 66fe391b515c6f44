import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { desk, program, threeWrites, write } from "../../../test/support/cli.ts";
import { testTogether } from "../../../test/support/together.ts";
import { forgetfulDisk } from "../../../test/support/workspaces.ts";

const at = desk();
const names = async () => (await at.json<{ sessions: { id: string }[] }>("sessions")).sessions.map(({ id }) => id);

describe("holdfast delete", () => {
  test("[CLI-30] says what would go, wants to be told twice, and deletes for good; the folder is left alone", async () => {
    const { calls } = await threeWrites(at.folder);
    expect(await at.run("delete", "work")).toMatchObject({ code: 2, err: expect.stringContaining("--yes") });
    const plan = await at.json<{ records: number }>("delete", "work", "--dry-run");
    expect(plan).toMatchObject({ ok: true, dryRun: true, session: "work", shared: 0 });
    expect(await names()).toEqual(["work"]);
    await at.run("fork", "work", "--after", calls[0] ?? "", "--as", "other", "--memory");
    const said = await at.run("delete", "work", "--yes");
    expect(said).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^deleted work with \d+ records; \d+ records? stay/),
    });
    expect(await names()).toEqual(["other"]);
    expect(existsSync(join(at.folder, "b.txt"))).toBe(true);
    expect(await at.json("gc", "--grace", "0s")).toMatchObject({ ok: true });
    expect(await at.json("verify")).toMatchObject({ ok: true });
  });

  test("[CLI-30] a session whose folder is gone goes when that is said, and not before", async () => {
    await threeWrites(at.folder);
    await at.run("fork", "work", "--after", "last", "--as", "other", "--workspace", "there");
    rmSync(join(at.folder, "there"), { recursive: true });
    expect(await at.run("delete", "other", "--yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--folder-gone"),
    });
    expect(await at.run("delete", "other", "--yes", "--folder-gone")).toMatchObject({ code: 0 });
    expect(await names()).toEqual(["work"]);
  });

  test("[HOST-27] what a session left unfinished is given up when its store is gone, and not before", async () => {
    const { port, state } = forgetfulDisk();
    const holdfast = await program(at.folder, { workspace: { root: at.folder, port } });
    const session = await holdfast.open("work");
    state.notes = 0;
    await write(session, "a.txt");
    await session.close().catch(() => {});
    await holdfast.close().catch(() => {});
    const forgetting = ["delete", "work", "--store-gone"] as const;
    expect(await at.run(...forgetting, "--yes")).toMatchObject({
      code: 2,
      err: expect.stringContaining("SESSION_EXISTS"),
    });
    const store = join(at.folder, ".holdfast", "sessions.db");
    for (const end of ["", "-wal", "-shm"]) rmSync(`${store}${end}`, { force: true });
    const planned = { ok: true, session: "work", paths: [{ path: "a.txt" }] };
    expect(await at.json(...forgetting, "--dry-run")).toMatchObject({ ...planned, dryRun: true });
    expect(existsSync(store)).toBe(false);
    expect((await at.run(...forgetting, "--yes")).out).toBe(
      "gave up a change of 1 path by work\n  a.txt: as it is now",
    );
    expect((await at.run(...forgetting, "--dry-run")).out).toBe(`nothing of work waits in ${at.folder}`);
    await threeWrites(at.folder, "other");
  });

  testTogether("[CLI-30] refuses a session that somebody writes, and one that is not there", async () => {
    await threeWrites(at.folder);
    expect(await at.run("delete", "wrok", "--yes")).toMatchObject({ code: 3, err: expect.stringContaining("work") });
    const holdfast = await program(at.folder);
    const session = await holdfast.open("work");
    expect(await at.run("delete", "work", "--yes")).toMatchObject({
      code: 3,
      err: expect.stringContaining("SESSION_BUSY"),
    });
    await session.close();
    await holdfast.close();
    expect(await names()).toEqual(["work"]);
  });
});
