import { existsSync, linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTool, type ExecNote, type HostPort, realHost } from "../../src/index.ts";
import { IS_ROOT, missing, portrait, runningLike, withCommands } from "../support/commands.ts";
import { freshRoot } from "../support/workspaces.ts";
import { driverLaws } from "./driver-laws.ts";

driverLaws("overlay");

const why = missing("overlay");
test.skipIf(why !== undefined || !IS_ROOT).each([
  { when: "just before", first: "theirs", later: undefined },
  { when: "just before, and again when it is free", first: "theirs", later: "newer" },
])("[EXEC-10] what somebody writes $when a name becomes another of its file again is not lost", async (row) => {
  const at = freshRoot();
  const twin = join(at.root, "twin");
  let isArmed = true;
  const port: HostPort = {
    ...realHost,
    rename: (from, to) => {
      const isShared = isArmed && [from, to].some((path) => path.endsWith("/twin"));
      isArmed &&= !isShared;
      if (isShared) writeFileSync(twin, row.first);
      realHost.rename(from, to);
      if (isShared && row.later !== undefined) writeFileSync(twin, row.later);
    },
  };
  const one = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
  one.put("a", "ours");
  expect((await one.sh("ln a twin")).ok).toBe(true);
  expect([isArmed, one.text("a"), one.text("twin")]).toEqual([false, "ours", row.later ?? row.first]);
  expect(one.rescued()).toEqual(row.later === undefined ? [] : [row.first]);
});

test.skipIf(why !== undefined || !IS_ROOT)(
  "[EXEC-18] a name that was about to become another of its file when the process died is there again, and becomes it",
  async () => {
    const at = freshRoot();
    let fails = true;
    const port: HostPort = {
      ...realHost,
      linkAs: (from, to) => {
        if (fails && from.endsWith("/a")) throw Object.assign(new Error("the disk"), { code: "EIO" });
        realHost.linkAs(from, to);
      },
    };
    const one = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
    one.put("a", "ours");
    await one.sh("ln a twin");
    fails = false;
    await one.sh("true");
    expect([one.text("twin"), statSync(one.on("twin")).ino, one.rescued()]).toEqual([
      "ours",
      statSync(one.on("a")).ino,
      [],
    ]);
  },
);

test.skipIf(why !== undefined)(
  `[EXEC-1] what a command cost follows what it changed, and not what lies beside it${why === undefined ? "" : ` (skipped: ${why})`}`,
  async () => {
    let looks = 0;
    const port: HostPort = {
      ...realHost,
      stat: (path) => {
        looks += 1;
        return realHost.stat(path);
      },
    };
    const at = freshRoot();
    for (let folder = 0; folder < 20; folder += 1) {
      mkdirSync(join(at.root, `${folder}`), { recursive: true });
      for (let n = 0; n < 40; n += 1) writeFileSync(join(at.root, `${folder}/${n}`), `${n}\n`);
    }
    const { sh, results } = await withCommands("overlay", { workspace: { root: at.root, port } }, at);
    await sh("true");
    const before = looks;
    await sh("echo x >> 7/7 && echo y > 8/new && rm 9/9 && mv 10 moved", { undo: true });
    expect(results[1]?.changed.paths).toContain("7/7");
    const moved = 40 * 4; // every file of a folder that got another name is another path
    expect(looks - before).toBeLessThan(moved + 120);
    linkSync(join(at.root, "1/1"), join(at.root, "2/twin"));
    await sh("echo both > 1/1 && echo z > 2/new");
    expect(readFileSync(join(at.root, "2/twin"), "utf8")).toBe("both\n");
  },
);

/** Ends what holds the layers of a workspace, as a system out of memory may, and waits until it is gone. */
function endHolder(root: string): void {
  for (const pid of runningLike("lowerdir=.,upperdir=").filter((one) => runningLike(root).includes(one))) {
    process.kill(Number(pid), "SIGKILL");
    while (existsSync(`/proc/${pid}/root/`)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
}

test.skipIf(why !== undefined)(
  `[EXEC-31] a layer whose holder was ended is told as that, and nothing is taken for removed${why === undefined ? "" : ` (skipped: ${why})`}`,
  async () => {
    const codes: unknown[] = [];
    const loses = defineTool<"refuse" | "report">({
      name: "loses",
      access: "execute",
      async run(uncovered, call) {
        const onOutput = (_: string, stream: string) => stream === "stderr" && endHolder(root);
        const lost = call.exec("echo new > new; rm a; seq 1 20000; echo said >&2; sleep 30", { uncovered, onOutput });
        await lost.catch((error) => codes.push(error.code));
        await call.exec("true").catch((error) => codes.push(error.code));
        return "carries on as if nothing had happened";
      },
    });
    const { session, put, root, results, sh } = await withCommands("overlay", { tools: [loses] });
    put("a", "a");
    put("folder/b", "b");
    const before = portrait(root, { times: true });
    for (const uncovered of ["refuse", "report"] as const) {
      const { ok, reason } = await session.runTool({ name: "loses", input: uncovered });
      expect([ok, reason, codes.splice(0)]).toEqual([false, "EXEC_LAYER_LOST", ["EXEC_LAYER_LOST", "EXEC_LAYER_LOST"]]);
      expect(portrait(root, { times: true })).toEqual(before);
    }
    const notes = session.state.root.get("holdfast.exec") as readonly ExecNote[];
    expect(notes.map(({ stdout }) => stdout)).toEqual([expect.any(String), expect.any(String)]);
    await sh("echo next > next");
    expect(results[0]).toMatchObject({ exitCode: 0, changed: { paths: ["next"] } });
  },
);
