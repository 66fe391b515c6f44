import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { desk, program, threeWrites, write } from "../../../test/support/cli.ts";
import { counter, diary, steps } from "../../../test/support/calls.ts";
import { scripted, watch } from "../../../test/support/loop.ts";
import { testTogether } from "../../../test/support/together.ts";
import { shortCall } from "./calls.ts";
import type { TimelineEvent } from "./timeline.ts";

const at = desk();

describe("holdfast sessions", () => {
  test("[CLI-7] lists every session, the newest first, with who has it and what it began with", async () => {
    await threeWrites(at.folder, "older");
    await threeWrites(at.folder, "newer");
    const { code, out } = await at.run("sessions");
    expect(code).toBe(0);
    const [head = "", first = "", second = ""] = out.split("\n");
    expect(head).toMatch(/^SESSION +LAST +RECORDS +STATE$/);
    expect(first).toMatch(/^newer +just now +\d+ +closed +Write three files, please\.$/);
    expect(second).toMatch(/^older /);
    const told = await at.json<{ sessions: { id: string; writer: string; lastAt: string }[] }>("sessions");
    expect(told.sessions.map(({ id, writer }) => [id, writer])).toEqual([
      ["newer", "closed"],
      ["older", "closed"],
    ]);
    expect(Date.parse(told.sessions[0]?.lastAt ?? "")).toBeGreaterThan(Date.parse(told.sessions[1]?.lastAt ?? ""));
  });

  test("[CLI-7] pages long lists, and says how to go on", async () => {
    const holdfast = await program(at.folder);
    for (const id of ["a", "b", "c", "d", "e"]) await (await holdfast.open(id)).close();
    await holdfast.close();
    const ids: string[] = [];
    for (let next: string | undefined = ""; next !== undefined; ) {
      const page: { sessions: { id: string }[]; more: number; next?: string } = await at.json(
        "sessions",
        "--limit",
        "2",
        ...(next === "" ? [] : ["--after", next]),
      );
      ids.push(...page.sessions.map(({ id }) => id));
      next = page.next;
    }
    expect(ids).toEqual(["e", "d", "c", "b", "a"]);
    expect((await at.run("sessions", "--limit", "2")).out).toContain("… 3 more: holdfast sessions --after d");
    expect(await at.run("sessions", "--after", "nobody")).toMatchObject({ code: 3 });
    expect(await at.run("sessions", "--limit", "-1")).toMatchObject({ code: 2 });
    expect(await at.run("sessions", "a")).toMatchObject({ code: 2 });
  });

  testTogether("[CLI-6] [CLI-7] a session that another process is writing is listed and shown", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("busy");
    await write(session, "a.txt");
    expect((await at.run("sessions")).out).toMatch(/busy .* in use/);
    expect((await at.run("show", "busy")).out).toContain("in use by another process");
    expect(await at.run("rewind", "busy", "--before", "last", "--dry-run")).toMatchObject({ code: 0 });
    const refused = await at.run("rewind", "busy", "--before", "last");
    expect(refused).toMatchObject({ code: 3, err: expect.stringMatching(/^SESSION_BUSY: .*\ntry: /) as string });
    await write(session, "b.txt"); // and it goes on as before
    await session.close();
    await holdfast.close();
  });
});

describe("holdfast show", () => {
  test("[CLI-7] tells words, calls with their ends, waiting, effects, faults, rewinds and what they took back", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("story");
    const calls = (name: string, input: unknown) => ({ calls: [{ name, input: input as never }] });
    const script = [
      { text: "I write it.", ...calls("write", { path: "a.txt", text: "one" }) },
      calls("pay", "order-7"),
      calls("write", { path: "b.txt", text: "two", fail: true }),
      calls("deploy", {}),
    ];
    await watch(session.run("Do it all.", { model: scripted(script) }));
    await session.append({ kind: "fault-raised", fault: "silent-recall", detail: { page: "p" } });
    await session.setMode("plan");
    await session.close();
    await holdfast.close();
    const { events, waiting } = await at.json<{ events: TimelineEvent[]; waiting: unknown[] }>("show", "story");
    const brief = events.map(({ what, text, call }) =>
      call === undefined ? `${what}: ${text}` : `${what}: ${call.tool} ${call.status}`,
    );
    expect(brief).toEqual([
      "said: Do it all.",
      "answered: I write it.",
      "call: write success",
      "answered: ",
      "call: pay success",
      "outside: payment (order-7) happened",
      "answered: ",
      "call: write failed",
      "answered: ",
      "call: deploy undefined",
      "waits: deploy waits for consent",
      expect.stringContaining("ended: ") as string,
      expect.stringContaining("fault: silent-recall") as string,
      "boundary: mode-flip",
      "mode: plan mode",
    ]);
    expect(waiting).toHaveLength(1);
    expect((await at.run("sessions")).out).toContain("waits for you");
    const text = (await at.run("show", "story")).out;
    expect(text).toMatch(/✓ [0-9a-f]{8} write \{"path":"a\.txt"/);
    expect(text).toMatch(/✗ [0-9a-f]{8} write .*\n +failed \(no\): that failed/);
    expect(text).toContain("plan mode");
  });

  test("[CLI-7] pages by record, in either direction, and shows everything when asked", async () => {
    await threeWrites(at.folder);
    const all = await at.json<{ events: TimelineEvent[] }>("show", "work", "--limit", "0");
    const newest = await at.json<{ events: TimelineEvent[]; earlier: number }>("show", "work", "--limit", "2");
    expect(newest.events).toEqual(all.events.slice(-2));
    expect(newest.earlier).toBe(all.events.length - 2);
    const seqs: number[] = [];
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page: { events: TimelineEvent[]; next?: number } = await at.json(
        "show",
        "work",
        "--limit",
        "1",
        "--after",
        String(next),
      );
      seqs.push(...page.events.map(({ seq }) => seq));
      next = page.next;
    }
    expect(seqs).toEqual(all.events.map(({ seq }) => seq));
    const inner = await at.json<{ events: TimelineEvent[] }>("show", "work", "--all", "--limit", "0");
    expect(inner.events.length).toBeGreaterThan(all.events.length);
    expect((await at.run("show", "work", "--full")).out).toContain("wrote a.txt");
  });

  test("[CLI-7] names what is not there, and the nearest that is", async () => {
    await threeWrites(at.folder);
    expect(await at.run("show", "wrok")).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^SESSION_UNKNOWN: [^\n]*\ntry: did you mean work\?$/) as string,
    });
    expect(await at.run("show")).toMatchObject({ code: 2 });
    expect(await at.run("show", "work", "more")).toMatchObject({ code: 2 });
    expect(await at.run("show", "work", "--store", "none.db")).toMatchObject({ code: 3 });
    expect(existsSync(join(at.folder, "none.db"))).toBe(false);
  });

  test("[CLI-7] a damaged record is a line of its own, and hides no other", async () => {
    const path = join(at.folder, ".holdfast", "sessions.db");
    const holdfast = await program(at.folder, {});
    const session = await holdfast.open("hurt");
    for (const n of ["one", "two", "three"]) await session.append({ kind: "user-said", text: `needle-${n}-needle` });
    await session.close();
    await holdfast.close();
    const bytes = readFileSync(path);
    bytes[bytes.indexOf("needle-two") + 1] = 0x21;
    writeFileSync(path, bytes);
    const { events } = await at.json<{ events: TimelineEvent[] }>("show", "hurt");
    expect(events.map(({ what }) => what)).toEqual(["said", "damaged", "said"]);
  });
});

describe("holdfast rewind", () => {
  test("[CLI-9] a dry run says exactly what would happen and changes nothing; then it happens", async () => {
    const { calls } = await threeWrites(at.folder);
    writeFileSync(join(at.folder, "a.txt"), "mine now");
    const target = ["work", "--before", shortCall(calls[0] ?? "")];
    const before = readFileSync(join(at.folder, ".holdfast", "sessions.db"));
    const plan = await at.json<Record<string, unknown>>("rewind", ...target, "--dry-run");
    expect(readFileSync(join(at.folder, ".holdfast", "sessions.db")).equals(before)).toBe(true);
    expect(plan).toMatchObject({ ok: true, done: false, calls, closesFirst: [] });
    expect(plan["files"]).toEqual({
      files: [{ path: "b.txt", does: "remove" }],
      kept: [{ path: "a.txt", why: "changed" }],
      unlike: [],
    });
    const done = await at.json<Record<string, unknown>>("rewind", ...target);
    const { closesFirst: _closes, undoing: _undoing, ...promised } = plan;
    expect(done).toEqual({ ...promised, done: true, recovered: { closedCalls: [], damaged: [] } });
    expect(existsSync(join(at.folder, "b.txt"))).toBe(false);
    expect(readFileSync(join(at.folder, "a.txt"), "utf8")).toBe("mine now");
    const again = await (await program(at.folder)).open("work");
    expect(again.state.session.get(steps)).toEqual([]);
    expect(again.state.session.get(counter)).toBe(0);
    expect(again.state.session.get(diary)).toEqual(["a.txt", "b.txt", "c.txt"]);
    await again.close();
    expect((await at.run("show", "work")).out).toContain("taken back");
  });

  test("[CLI-9] what was done outside and cannot be undone here stops it, unless it is left knowingly", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("paid");
    const { callId } = await session.runTool({ name: "pay", input: "order-7" });
    await session.close();
    await holdfast.close();
    const target = ["rewind", "paid", "--before", callId];
    const dry = await at.run(...target, "--dry-run");
    expect(dry).toMatchObject({
      code: 0,
      out: expect.stringContaining("no way to undo it is declared here") as string,
    });
    const stopped = await at.run(...target);
    expect(stopped).toMatchObject({ code: 1, err: expect.stringMatching(/^EFFECTS_STAND: .*\ntry: /) as string });
    expect((await at.run("show", "paid")).out).not.toContain("rewound");
    const left = await at.json<{ effects: unknown }>(...target, "--leave-effects");
    expect(left.effects).toMatchObject([{ name: "payment", key: "order-7", is: "not-undone" }]);
  });

  test("[CLI-9] what a sub-agent did for a call goes with it, though nobody here declares the agent", async () => {
    const makes = scripted([
      { calls: [{ name: "write", input: { path: "by-agent.txt", text: "x" } }] },
      { text: "Made." },
    ]);
    const agents = [{ name: "helper", description: "Helps.", model: makes }];
    const holdfast = await program(at.folder, { agents });
    const session = await holdfast.open("boss");
    const script = [{ calls: [{ name: "helper", input: { task: "make it" } }] }, { text: "Done." }];
    await watch(session.run("go", { model: scripted(script) }));
    await session.close();
    await holdfast.close();
    expect(existsSync(join(at.folder, "by-agent.txt"))).toBe(true);
    const dry = await at.run("rewind", "boss", "--before", "last", "--dry-run");
    expect(dry.out).toMatch(/sub-agents .*\n +boss\.agent-\w+: 1 calls taken back\n +remove +by-agent\.txt/);
    expect(existsSync(join(at.folder, "by-agent.txt"))).toBe(true);
    const done = await at.json<{ agents: { rewound: { done: boolean } }[] }>("rewind", "boss", "--before", "last");
    expect(done.agents).toMatchObject([{ rewound: { done: true } }]);
    expect(existsSync(join(at.folder, "by-agent.txt"))).toBe(false);
  });

  test("[CLI-9] bad input is refused with what to do: no side, both sides, no such call, several, a rewound one", async () => {
    const { calls } = await threeWrites(at.folder);
    const first = calls[0] ?? "";
    for (const argv of [
      [],
      ["--before", first, "--after", first],
      ["--before", "zzzz"],
      ["--before", "call_"],
      ["--before", first, "--scope", "fils"],
    ])
      expect(await at.run("rewind", "work", ...argv)).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^[A-Z_]+: .*\ntry: /) as string,
      });
    await at.run("rewind", "work", "--before", first);
    expect(await at.run("rewind", "work", "--before", calls[1] ?? "")).toMatchObject({ code: 2 });
    expect(await at.run("rewind", "work", "--before", "last")).toMatchObject({ code: 2 });
    expect(await at.json("rewind", "work", "--before", "zzzz")).toMatchObject({
      ok: false,
      code: "CHECKPOINT_UNKNOWN",
    });
  });

  test("[CLI-9] a session of another folder is refused, and a part of it can still go back", async () => {
    await threeWrites(at.folder);
    const elsewhere = ["rewind", "work", "--before", "last", "--workspace", join(at.folder, ".holdfast")];
    expect(await at.run(...elsewhere)).toMatchObject({
      code: 3,
      err: expect.stringContaining("WORKSPACE_FOREIGN") as string,
    });
    expect(await at.run(...elsewhere, "--scope", "conversation", "--dry-run")).toMatchObject({ code: 0 });
  });

  test("[CLI-9] killed at any moment, the session is as before or as after", async () => {
    const { calls } = await threeWrites(at.folder);
    const argv = ["rewind", "work", "--before", calls[0] ?? ""];
    for (const after of [120, 220, 300]) {
      const child = spawn(process.execPath, [join(import.meta.dirname, "../../../bin/holdfast.js"), ...argv], {
        cwd: at.folder,
      });
      const ended = new Promise((resolve) => child.once("exit", resolve));
      setTimeout(() => child.kill("SIGKILL"), after);
      await ended;
      const holdfast = await program(at.folder);
      const session = await holdfast.open("work");
      const gone = session.state.session.get(steps).length === 0;
      expect(existsSync(join(at.folder, "b.txt"))).toBe(!gone);
      await session.close();
      await holdfast.close();
    }
    expect((await at.json<{ ok: boolean }>("verify")).ok).toBe(true);
  });
});
