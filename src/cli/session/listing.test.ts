import { readdirSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { desk, program, project, threeWrites, write } from "../../../test/support/cli.ts";
import { scripted, watch } from "../../../test/support/loop.ts";
import { testTogether } from "../../../test/support/together.ts";
import { shortCall } from "./calls.ts";

const at = desk();

describe("holdfast sessions", () => {
  test("[CLI-7] lists a damaged one first, as that, and one whose records are lost with why it cannot be opened", async () => {
    for (const id of ["lost", "work", "hurt"]) await threeWrites(at.folder, id);
    const database = new DatabaseSync(join(at.folder, ".holdfast", "sessions.db"));
    database.exec("UPDATE sessions SET epoch = 77 WHERE id = 'hurt'");
    const { segments } = database.prepare("SELECT segments FROM sessions WHERE id = 'lost'").get() as {
      segments: string;
    };
    const segment = Number(/\d+/.exec(segments)?.[0]);
    database.exec(`DELETE FROM records WHERE key >> 32 = ${segment}`);
    database.close();
    const { sessions } = await at.json<{ sessions: { id: string; damaged?: string }[] }>("sessions");
    expect(sessions[0]).toMatchObject({ id: "hurt", damaged: expect.any(String) });
    expect(sessions.find(({ id }) => id === "lost")?.damaged).toMatch(/^SESSION_/);
    const { out } = await at.seen(80, "sessions");
    expect(out).toMatch(/^hurt .*damaged/m);
    expect(out).toMatch(/^lost .*damaged/m);
    expect(out).toMatch(/^work .*closed/m);
  });

  test("[CLI-7] says where nobody has made a store yet, and what will; a store that was named must be there", async () => {
    const { code, out } = await at.run("sessions");
    expect({ code, lines: out.split("\n") }).toEqual({
      code: 0,
      lines: [expect.stringContaining("no sessions: `holdfast run`"), join(at.folder, ".holdfast", "sessions.db")],
    });
    expect(await at.json("sessions")).toEqual({
      ok: true,
      store: join(at.folder, ".holdfast", "sessions.db"),
      sessions: [],
      more: 0,
    });
    expect(readdirSync(at.folder)).toEqual([]);
    expect(await at.run("sessions", "--store", "elsewhere.db")).toMatchObject({ code: 3 });
    writeFileSync(join(at.folder, "holdfast.toml"), 'store = "elsewhere.db"\n');
    expect(await at.run("sessions")).toMatchObject({ code: 3 });
  });

  test("[CLI-7] says of a store without sessions that there are none, and of one that was cut off that it was", async () => {
    await (await program(at.folder)).close();
    expect(await at.run("sessions")).toMatchObject({ code: 0, out: "no sessions" });
    const child = startChild(`
      import { program } from "@/../test/support/cli.ts";
      import { defineTool } from "@/index.ts";
      const hang = defineTool({ name: "hang", access: "read", run: () => (say("hangs"), new Promise(() => {})) });
      const holdfast = await program(${JSON.stringify(at.folder)}, { tools: [hang] });
      const session = await holdfast.open("work");
      await session.runTool({ name: "hang", input: {} });
    `);
    await child.said("hangs");
    expect((await at.run("sessions")).out).toContain("running 1");
    await child.kill();
    expect((await at.run("sessions")).out).toContain("cut off");
  });
});

describe("holdfast gc, for people", () => {
  test("[CLI-11] looks for the session that is named, also when nothing of it is to go", async () => {
    await threeWrites(at.folder);
    expect(await at.run("gc", "wrok")).toMatchObject({ code: 3, err: expect.stringContaining("work") });
    expect(await at.run("gc", "work")).toMatchObject({ code: 0 });
    expect(await at.run("verify", "work", "--salvage", "out.jsonl")).toMatchObject({ code: 2 });
  });

  async function manyWrites(): Promise<void> {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("work");
    for (let n = 0; n < 5; n += 1) {
      await write(session, `${n}.txt`);
      await session.checkpoint();
    }
    await session.close();
    await holdfast.close();
  }

  test("[CLI-11] tells what it would forget, forgets it, and has nothing to say of it afterwards", async () => {
    await manyWrites();
    expect((await at.run("gc", "work", "--keep-records", "3", "--dry-run")).out).toMatch(
      /^work: would drop \d+ records/,
    );
    expect((await at.run("gc", "--keep-records", "3")).out).toMatch(
      /^work: dropped \d+ records[\s\S]*removed \d+ records/,
    );
    expect((await at.run("gc", "--keep-records", "1000")).out).toMatch(/^removed 0 records/);
  });

  test("[CLI-11] names the call for which a session stays over its bound", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("work");
    const model = scripted([{ calls: [{ name: "deploy", input: {} }] }]);
    expect((await watch(session.run("go", { model }))).end.status).toBe("waiting");
    for (let n = 0; n < 3; n += 1) await session.checkpoint();
    const [call] = session.waiting;
    await session.close();
    await holdfast.close();
    const { out } = await at.run("gc", "work", "--keep-records", "3");
    expect(out).toContain(`it stays over its limit for ${shortCall(call!.callId)}, which has not ended`);
    expect(await at.json("gc", "--keep-records", "3")).toMatchObject({ sessions: [{ awaited: [call!.callId] }] });
  });

  testTogether(
    "[CLI-11] says that a session stays over its bound, and leaves alone one that somebody writes",
    async () => {
      await manyWrites();
      expect((await at.run("gc", "--keep-records", "1")).out).toContain("it stays over its limit");
      const holdfast = await program(at.folder);
      const session = await holdfast.open("work");
      for (let n = 0; n < 3; n += 1) {
        await write(session, `again-${n}.txt`);
        await session.checkpoint();
      }
      expect((await at.run("gc", "--keep-records", "3")).out).toContain("work: left alone, in use");
      await session.close();
      await holdfast.close();
    },
  );
});

test("[CONFIG-1] sizes, amounts, lists and times are shown as a file would say them, from wherever they come", async () => {
  project(at.folder, 'preferences = ["Short.", "Kind."]\n[retention]\nbytes = 4096\nage = "30d"\n[limits]\ncost = 1.5');
  at.env["HOLDFAST_PRICES_INPUT"] = "2.5";
  at.env["HOLDFAST_PREFERENCES"] = "In rhymes.";
  const { out } = await at.run("config");
  expect(out).toMatch(/retention\.bytes +4\.1 kB/);
  expect(out).toMatch(/retention\.age +30 d/);
  expect(out).toMatch(/prices\.input +2\.5/);
  expect(out).toContain('"In rhymes."');
  for (const text of ["preferences = [7]", "limits.cost = -1", "retention.age = 7"]) {
    project(at.folder, text);
    expect(await at.run("config")).toMatchObject({ code: 2 });
  }
});
