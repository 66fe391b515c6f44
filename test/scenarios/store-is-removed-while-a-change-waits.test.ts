import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createHoldfast, defineTool, type HostPort, realHost } from "../../src/index.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { eachDriver, withCommands } from "../support/commands.ts";
import { type At, freshRoot, type Working, work } from "../support/workspaces.ts";

/** A disk on which, from some moment on, only so many names more are given: whoever dies there leaves a plan behind. */
function stuckDisk(stuck: { left: number }, renames: boolean): HostPort {
  const oneMore = () => {
    if (stuck.left === 0) throw Object.assign(new Error("the disk"), { code: "EIO" });
    stuck.left -= 1;
  };
  return {
    ...realHost,
    linkAs: (from, to) => {
      oneMore();
      realHost.linkAs(from, to);
    },
    rename: (from, to) => {
      if (renames) oneMore();
      realHost.rename(from, to);
    },
  };
}

/** Closed like one whose process dies; then its store is removed. */
async function abandon({ session, holdfast, store }: Pick<Working, "session" | "holdfast" | "store">): Promise<void> {
  await session.close().catch(() => {});
  await holdfast.close().catch(() => {});
  for (const end of ["", "-wal", "-shm"]) rmSync(`${store}${end}`, { force: true });
}

/** A call of session `s` is committed and its files wait, but for what so many names bring into place. */
async function abandoned(names = 0): Promise<At> {
  const at = freshRoot();
  const stuck = { left: Number.POSITIVE_INFINITY };
  const one = await work({ workspace: { root: at.root, port: stuckDisk(stuck, false) } }, at);
  one.put("old.txt", "before");
  const { ok } = await one.run(async ({ files }) => {
    await files.writeText("a-new.txt", "new");
    await files.writeText("old.txt", "after");
    stuck.left = names;
  });
  expect(ok).toBe(true);
  await abandon(one);
  return at;
}

const anew = ({ root, store }: At) =>
  createHoldfast({ store: sqlite(store, { durability: "process" }), workspace: root });

describe("[HOST-27] a store is removed while a change waits in its folder", () => {
  test("whoever opens the folder with another store is told what waits, by whom, and what to do", async () => {
    const at = await abandoned();
    const holdfast = await anew(at);
    await expect(holdfast.open("other")).rejects.toMatchObject({
      code: "WORKSPACE_UNFINISHED",
      details: { session: "s" },
    });
    await holdfast.close();
  });

  test("given up, it leaves every file as it is, keeps what waited in rescue, and gives the folder free", async () => {
    const at = await abandoned(1);
    const holdfast = await anew(at);
    const planned = await holdfast.forgetUnfinished("s", { dryRun: true });
    expect(planned).toMatchObject({
      session: "s",
      paths: [{ path: "a-new.txt" }, { path: "old.txt", kept: expect.any(String) as string }],
    });
    await expect(holdfast.open("other")).rejects.toMatchObject({ code: "WORKSPACE_UNFINISHED" });
    expect(await holdfast.forgetUnfinished("s")).toEqual(planned);
    const kept = planned.paths[1]?.kept ?? "";
    expect(readFileSync(join(at.root, ".holdfast/workspace/rescue", kept), "utf8")).toBe("after");
    expect(readFileSync(join(at.root, "a-new.txt"), "utf8")).toBe("new");
    const session = await holdfast.open("other");
    expect(session.workspace?.rescued()).toContainEqual({ name: kept, path: "old.txt", whose: "ours" });
    await session.close();
    expect((await holdfast.forgetUnfinished("s")).paths).toEqual([]);
    await holdfast.close();
  });

  test("a session that the store knows is opened instead, which finishes it", async () => {
    const { holdfast, session, put, run, text } = await work();
    put("old.txt", "before");
    await run(({ files }) => files.writeText("old.txt", "after"));
    await session.close();
    await expect(holdfast.forgetUnfinished("s")).rejects.toMatchObject({ code: "SESSION_EXISTS" });
    expect(text("old.txt")).toBe("after");
  });

  test("without a folder, and with a word that no option has, it is refused", async () => {
    const at = await abandoned();
    const bare = await createHoldfast({ store: sqlite(at.store, { durability: "process" }) });
    await expect(bare.forgetUnfinished("s")).rejects.toMatchObject({ code: "WORKSPACE_NEEDED" });
    await expect(bare.forgetUnfinished("s", { dryrun: true } as never)).rejects.toMatchObject({ code: "BAD_OPTION" });
    await bare.close();
  });
});

eachDriver((driver) => {
  test("[HOST-27] of what a command made, all is found again, wherever putting it in place was cut off", async () => {
    let [names, cutOff] = [0, 0];
    for (let isWhole = false; !isWhole; names += 1) {
      const at = freshRoot();
      const stuck = { left: Number.POSITIVE_INFINITY };
      const one = await withCommands(driver, { workspace: { root: at.root, port: stuckDisk(stuck, true) } }, at);
      one.put("old.txt", "before");
      const late = one.session.transactions;
      late.add([
        defineTool({
          name: "shell",
          access: "execute",
          run: async (_, call) => {
            await call.exec("mkdir made; echo 1 > made/1; echo 2 > made/2; echo after > old.txt; echo 3 > b-new");
            await call.files.writeText("by-hand", "4");
            stuck.left = names;
            return "done";
          },
        }),
      ]);
      const { ok } = await one.sh("");
      if (!ok) continue; // stuck before anything was decided
      await abandon(one);
      const holdfast = await anew(at);
      const { paths } = await holdfast.forgetUnfinished("s");
      isWhole = paths.length === 0;
      if (!isWhole) cutOff += 1;
      const rescue = join(at.root, ".holdfast/workspace/rescue");
      const contentOf = (path: string) => {
        const { kept } = paths.find((one) => one.path === path) ?? {};
        return readFileSync(kept === undefined ? join(at.root, path) : join(rescue, kept), "utf8").trim();
      };
      const made = ["made/1", "made/2", "old.txt", "b-new", "by-hand"];
      expect(made.map(contentOf)).toEqual(["1", "2", "after", "3", "4"]);
      await (await holdfast.open("other")).close();
      await holdfast.close();
    }
    expect(cutOff).toBeGreaterThan(0);
  });
});
