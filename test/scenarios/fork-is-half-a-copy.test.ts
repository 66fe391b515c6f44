import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { type HostPort, realHost, type Session } from "../../src/index.ts";
import { IS_ROOT, portrait, withCommands } from "../support/commands.ts";
import { freshRoot, refusingDisk, work } from "../support/workspaces.ts";

const modeOf = (path: string) => statSync(path).mode & 0o7777;

async function toldIn(fork: Session): Promise<unknown[]> {
  const told: unknown[] = [];
  for await (const record of fork.read())
    if (record.kind === "fault-raised") told.push([record.fault, (record.detail as { paths: unknown }).paths]);
  return told;
}

// A folder that its owner may not write could not be copied at all, one for everybody came out with what the system's mask
// left of its mode, and files that had changed since belonged to whoever forked.
describe("a fork in a folder of its own", () => {
  test("[HOST-13] has the modes and owners that folders and files had, whatever the mask", async () => {
    const { root, session, put, on, run } = await work();
    for (const path of ["closed/in/f", "open/f", "changed", "runs"]) put(path, "0");
    chmodSync(on("runs"), 0o4755);
    if (IS_ROOT) for (const path of ["open", "open/f", "changed"]) chownSync(on(path), 1234, 1235);
    chmodSync(on("open"), 0o3777);
    chmodSync(on("closed/in"), 0o555);
    chmodSync(on("closed"), 0o555);
    chmodSync(root, 0o750);
    const { callId: after } = await run(({ files }) => files.writeText("changed", "1"));
    const then = portrait(root, { times: false });
    await run(({ files }) => files.writeText("changed", "2"));
    const fork = await session.fork({ after, as: "f", workspace: `${root}-fork` });
    expect(portrait(`${root}-fork`, { times: false })).toEqual(then);
    expect([modeOf(`${root}-fork`), await toldIn(fork)]).toEqual([0o750, []]);
    await fork.close();
  });

  test("[HOST-13] holds what lay in a folder whose mode was another", async () => {
    const { root, session, put, on, sh } = await withCommands("portable");
    put("d/f", "untouched");
    const { callId: after } = await sh("chmod 700 d");
    chmodSync(on("d"), 0o755);
    const fork = await session.fork({ after, as: "f", workspace: `${root}-fork` });
    expect([readFileSync(`${root}-fork/d/f`, "utf8"), modeOf(`${root}-fork/d`)]).toEqual(["untouched", 0o700]);
    await fork.close();
  });

  test("[HOST-13] tells what it could not give to its owner, which then does not run as somebody else", async () => {
    const at = freshRoot();
    const port: HostPort = {
      ...realHost,
      stat: (path) => {
        const found = realHost.stat(path);
        const isLent = found !== undefined && path.includes("lent") && realpathSync(path).startsWith(`${at.root}/`);
        return isLent ? { ...found, uid: 4242 } : found;
      },
      owner: () => {
        throw Object.assign(new Error("EPERM"), { code: "EPERM" });
      },
    };
    const { root, session, put, on, run } = await work({ workspace: { root: at.root, port } }, at);
    put("lent", "#!");
    put("lent-folder/f", "f");
    chmodSync(on("lent"), 0o4755);
    chmodSync(on("lent-folder"), 0o2775);
    const { callId: after } = await run(({ files }) => files.writeText("a", "a"));
    const fork = await session.fork({ after, as: "f", workspace: `${root}-fork` });
    expect(await toldIn(fork)).toEqual([["owners-not-kept", ["lent", "lent-folder"]]]);
    expect([modeOf(`${root}-fork/lent`), modeOf(`${root}-fork/lent-folder`)]).toEqual([0o755, 0o775]);
    await fork.close();
  });

  test.skipIf(IS_ROOT)("[HOST-13] tells what may not be read, and has all the rest", async () => {
    const { root, session, put, on, run } = await work();
    for (const path of ["a", "secret", "vault/x"]) put(path, "0");
    const { callId: after } = await run(({ files }) => files.writeText("a", "a"));
    for (const path of ["secret", "vault"]) chmodSync(on(path), 0);
    const fork = await session.fork({ after, as: "f", workspace: `${root}-fork` });
    expect(await toldIn(fork)).toEqual([["files-not-copied", ["secret", "vault/…"]]]);
    expect(readdirSync(`${root}-fork`)).toEqual([".holdfast", "a", "vault"]);
    await fork.close();
  });
});

// What the agent had changed was in a folder that the user has removed since: the copy ended in the middle, and in memory
// there was a file in a folder that was not there.
describe.each(["removed", "a file by now"])("a folder that is %s", (fate) => {
  test.each(["folder", "memory", "read-only"])("[HOST-13] is in the fork: %s", async (how) => {
    const { root, session, put, on, run } = await work();
    put("sub/deep/z", "0");
    const { callId: after } = await run(({ files }) => files.writeText("sub/deep/z", "agent's"));
    rmSync(on("sub"), { recursive: true });
    if (fate !== "removed") put("sub", "a file");
    const places = { folder: { workspace: `${root}-fork` }, memory: { workspace: "memory" }, "read-only": {} };
    const fork = await session.fork({ after, as: "f", ...places[how as keyof typeof places] });
    expect([await fork.files.readText("sub/deep/z"), await fork.files.exists("sub")]).toEqual(["agent's", true]);
    expect(await fork.files.list()).toEqual([{ name: "sub", kind: "folder" }]);
    expect(await fork.files.glob("**/z")).toEqual(["sub/deep/z"]);
    await fork.close();
  });
});

test("[HOST-13] a folder that the agent had removed and the user made again is in the fork with what it held", async () => {
  const { root, session, put, run } = await work();
  put("d/old", "0");
  await run(({ files }) => files.delete("d", { recursive: true }));
  put("d/users", "user's");
  const { callId: after } = await run(({ files }) => files.writeText("d/new", "agent's"));
  const fork = await session.fork({ after, as: "f", workspace: `${root}-fork` });
  expect(readdirSync(`${root}-fork/d`)).toEqual(["new", "users"]);
  await fork.close();
});

describe("a fork that fails half-way", () => {
  test.each([true, false])("[HOST-13] leaves nothing of its copy behind; folder there before: %s", async (isThere) => {
    const at = freshRoot();
    const state = { full: false };
    const port = refusingDisk((text) => state.full && text === "1");
    const { root, session, put, run } = await work({ workspace: { root: at.root, port } }, at);
    const folder = `${root}-fork`;
    put("d/untouched", "0");
    const { callId: after } = await run(({ files }) => files.writeText("f", "1"));
    await run(({ files }) => files.writeText("f", "2"));
    if (isThere) mkdirSync(folder);
    state.full = true;
    const failed = session.fork({ after, as: "f", workspace: folder });
    await expect(failed).rejects.toMatchObject({ code: "WORKSPACE_IO", details: { path: "f", system: "EIO" } });
    expect(existsSync(folder) && readdirSync(folder)).toEqual(isThere ? [] : false);
    state.full = false;
    const fork = await session.fork({ after, as: "f", workspace: folder });
    expect([readFileSync(`${folder}/f`, "utf8"), existsSync(`${folder}/d/untouched`)]).toEqual(["1", true]);
    await fork.close();
  });

  test("[HOST-13] takes its copy away when that cannot be a workspace, and says in our words where none can be", async () => {
    const { root, session, run } = await work();
    const { callId: after } = await run(({ files }) => files.writeText("f", "1"));
    vi.stubEnv("HOME", `${root}-home`);
    const home = session.fork({ after, as: "f", workspace: `${root}-home` });
    await expect(home).rejects.toMatchObject({ code: "WORKSPACE_ROOT_REFUSED" });
    vi.unstubAllEnvs();
    expect(existsSync(`${root}-home`)).toBe(false);
    const nowhere = session.fork({ after, as: "f", workspace: `${root}-no/where` });
    await expect(nowhere).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    writeFileSync(`${root}-file`, "");
    const file = session.fork({ after, as: "f", workspace: `${root}-file` });
    await expect(file).rejects.toMatchObject({ code: "FILE_EXISTS" });
  });

  test("[HOST-13] says in our words what the system does not read, into memory too, and can be made again", async () => {
    const at = freshRoot();
    let reads = Number.POSITIVE_INFINITY;
    const read: HostPort["read"] = (...what) => {
      reads -= 1;
      if (reads === 0) throw Object.assign(new Error("EIO"), { code: "EIO" });
      return realHost.read(...what);
    };
    const { session, run } = await work({ workspace: { root: at.root, port: { ...realHost, read } } }, at);
    const { callId: after } = await run(({ files }) => files.writeText("f", "1"));
    for (let nth = 1, failed = true; failed; nth += 1) {
      reads = nth;
      const made = await session.fork({ after, as: `f${nth}`, workspace: "memory" }).catch((error: unknown) => error);
      failed = reads <= 0;
      reads = Number.POSITIVE_INFINITY;
      if (failed) expect(made).toMatchObject({ code: "WORKSPACE_IO", details: { system: "EIO" } });
      const fork = failed ? await session.fork({ after, as: `f${nth}`, workspace: "memory" }) : (made as Session);
      expect(await fork.files.readText("f")).toBe("1");
      await fork.close();
    }
  });

  test("[HOST-13] tells both failures when what there is of it cannot be taken away", async () => {
    const at = freshRoot();
    const state = { full: false };
    const removeTree = (path: string) => {
      if (path.endsWith("-fork")) throw Object.assign(new Error("EBUSY"), { code: "EBUSY" });
      realHost.removeTree(path);
    };
    const port = { ...refusingDisk((text) => state.full && text === "1"), removeTree };
    const { root, session, run } = await work({ workspace: { root: at.root, port } }, at);
    const { callId: after } = await run(({ files }) => files.writeText("f", "1"));
    await run(({ files }) => files.writeText("f", "2"));
    state.full = true;
    await expect(session.fork({ after, as: "f", workspace: `${root}-fork` })).rejects.toMatchObject({
      code: "FORK_LEFT_BEHIND",
      details: { folder: `${root}-fork` },
      cause: { errors: [{ code: "WORKSPACE_IO" }, { code: "EBUSY" }] },
    });
  });
});
