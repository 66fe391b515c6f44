import { chmodSync, existsSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { type HostPort, realHost } from "../../src/index.ts";
import { eachDriver, withCommands } from "../support/commands.ts";
import { freshRoot } from "../support/workspaces.ts";

/** A disk on which nothing can be put in place. */
function refusing(state: { refuses: boolean }): HostPort {
  const refuse = (refuses: boolean) => {
    if (refuses) throw Object.assign(new Error("the disk"), { code: "EIO" });
  };
  return {
    ...realHost,
    linkAs: (from, to) => {
      refuse(state.refuses);
      realHost.linkAs(from, to);
    },
    rename: (from, to) => {
      refuse(state.refuses && to.endsWith("/d")); // a folder that is new from the top on
      realHost.rename(from, to);
    },
  };
}

eachDriver((driver) => {
  test("[EXEC-24] [HOST-9] what a command wrote is read while it waits to be put in place", async () => {
    const at = freshRoot();
    const state = { refuses: false };
    const workspace = { root: at.root, port: refusing(state) };
    const { sh, put, session, text, run } = await withCommands(driver, { workspace }, at);
    put("a", "old");
    state.refuses = true;
    expect((await sh("echo new > a; mkdir -p d/e; echo deep > d/e/f; head -c 300000 /dev/zero > large")).ok).toBe(true);
    const read = async () => [
      await session.files.readText("a"),
      await session.files.readText("d/e/f"),
      (await session.files.read("large")).length,
    ];
    expect(await read()).toEqual(["new\n", "deep\n", 300_000]);
    let seen = "";
    await run(async ({ files }) => (seen = await files.readText("a")));
    expect(seen).toBe("new\n");
    state.refuses = false;
    await run(({ files }) => files.writeText("b", "b"));
    expect([text("a"), ...(await read())]).toEqual(["new\n", "new\n", "deep\n", 300_000]);
  });

  test("[EXEC-24] [HOST-13] every fork has what a command wrote, as long as it lies anywhere", async () => {
    const { sh, run, session, root, put, on } = await withCommands(driver);
    put("mine", "m");
    const { callId: after } = await sh("echo one > a; echo one > b; echo one > c; echo x > mine");
    await run(({ files }) => files.writeText("a", "two"));
    await sh("echo two > b");
    chmodSync(on("c"), 0o755);
    const read = async (workspace?: string) => {
      const as = `fork-${workspace ?? "read"}`;
      const folder =
        workspace === "folder" ? { workspace: `${root}-fork` } : workspace === undefined ? {} : { workspace };
      const fork = await session.fork({ after, as, ...folder });
      const all = await Promise.all(["a", "b", "c", "mine"].map((path) => fork.files.readText(path)));
      await fork.close();
      return all;
    };
    const one = ["one\n", "one\n", "one\n", "x\n"];
    expect([await read(), await read("memory"), await read("folder")]).toEqual([one, one, one]);
  });

  test("[EXEC-24] what nobody has any more is refused by name, and the fork never was", async () => {
    const { sh, session, put, root } = await withCommands(driver);
    const { callId: after } = await sh("echo one > a; echo one > b");
    put("a", "somebody else's");
    for (const workspace of [undefined, "memory", `${root}-fork`])
      await expect(
        session.fork({ after, as: "f", ...(workspace === undefined ? {} : { workspace }) }),
      ).rejects.toMatchObject({ code: "FILE_GONE", details: { paths: ["a"], all: 1 } });
    expect(existsSync(`${root}-fork`)).toBe(false);
    put("a", "one\n");
    const fork = await session.fork({ after, as: "f" });
    expect(await fork.files.readText("a")).toBe("one\n");
    await fork.close();
  });
});

test("[HOST-13] what a folder of its own cannot be given is told in the fork's journal", async () => {
  const { session, root, put, on, run } = await withCommands("portable");
  put("a", "a");
  execFileSync("mkfifo", [on("pipe")]);
  const { callId: after } = await run(({ files }) => files.writeText("b", "b"));
  const fork = await session.fork({ after, as: "f", workspace: `${root}-fork` });
  const told = [];
  for await (const record of fork.read()) if (record.kind === "fault-raised") told.push(record);
  expect(told).toMatchObject([{ fault: "files-not-copied", detail: { paths: ["pipe"], all: 1 } }]);
  expect([readFileSync(`${root}-fork/a`, "utf8"), existsSync(`${root}-fork/pipe`)]).toEqual(["a", false]);
  await fork.close();
});
