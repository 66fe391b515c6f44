import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writes } from "../support/calls.ts";
import { memoryDeps, MemoryDisk } from "../support/stores.ts";
import { type At, type Edit, freshRoot, inWorkspace, refusingDisk, work } from "../support/workspaces.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { createHoldfast, Holdfast } from "../../src/turn/holdfast.ts";
import type { SessionOptions } from "../../src/turn/holdfast-options.ts";
import { refuseHuge } from "../../src/files/host/guard.ts";
import { nameFault } from "../../src/files/host/names.ts";
import { type HostPort, realHost } from "../../src/files/host/port.ts";

const coded = (code: string) => expect.objectContaining({ code });
async function refused(code: string, options: SessionOptions, at = freshRoot()): Promise<void> {
  const attempt = inWorkspace(options, at);
  await expect(attempt).rejects.toEqual(coded(code));
}

/** Left by a process that died between preparing and deciding. */
function leavePlanOf(session: string, at: At): { readonly sum: string; readonly body: string } {
  const steps = [{ path: "f", from: { kind: "absent" }, to: { kind: "folder", mode: 493 }, kept: null, aside: "aa-0" }];
  const body = JSON.stringify({ state: "prepared", tx: "aa", order: 1, session, after: 1, steps });
  const sum = createHash("sha256").update(body).digest("hex");
  writeFileSync(join(at.root, ".holdfast/workspace/intent-a"), `${sum} ${body}\n`);
  return { sum, body };
}

describe("the root", () => {
  test("[HOST-14] home, what lies above it, and the root of a file system are refused unless they are meant", async () => {
    const at = freshRoot();
    const port: HostPort = { ...realHost, home: join(at.root, "home") };
    mkdirSync(port.home);
    for (const root of [at.root, port.home, "/"])
      await refused("WORKSPACE_ROOT_REFUSED", { workspace: { root, port } });
    await work({ workspace: { root: port.home, port, anyRoot: true } });
  });

  test("[HOST-14] a folder of very many names is refused, and counting ends as soon as that is known", () => {
    const { root } = freshRoot();
    for (let n = 0; n < 12; n += 1) mkdirSync(join(root, `d${n}`));
    let asked = 0;
    const port: HostPort = {
      ...realHost,
      names: (path) => {
        asked += 1;
        return realHost.names(path);
      },
    };
    expect(() => refuseHuge(port, root, 10)).toThrowError(coded("WORKSPACE_ROOT_REFUSED"));
    expect(asked).toBe(1);
    expect(() => refuseHuge(port, root, 12)).not.toThrow();
  });

  test("[HOST-14] what is no folder, or holds a link where ours belongs, cannot be used", async () => {
    const at = freshRoot();
    await refused("WORKSPACE_UNUSABLE", { workspace: join(at.root, "none") });
    await refused("BAD_OPTION", { workspace: "" });
    await refused("BAD_OPTION", { workspace: { root: at.root, limits: { file: -1 } } }, at);
    rmSync(join(at.root, ".holdfast"), { recursive: true, force: true });
    mkdirSync(`${at.root}-elsewhere`);
    symlinkSync(`${at.root}-elsewhere`, join(at.root, ".holdfast"));
    await refused("WORKSPACE_UNUSABLE", {}, at);
    const kernel = new Holdfast(memoryDeps(new MemoryDisk()), { workspace: freshRoot().root });
    await expect(kernel.open("s")).rejects.toEqual(coded("WORKSPACE_NEEDS_LOCKS"));
  });

  test("[HOST-6] [K35] a session keeps to its folder, two folders share nothing, and a plan of another store is not guessed about", async () => {
    const at = freshRoot();
    const first = await work({}, at);
    await first.files.writeText("f", "1");
    await first.session.close();
    await first.holdfast.close();
    await refused("WORKSPACE_FOREIGN", { workspace: freshRoot().root }, at);
    const other = await work();
    expect(await other.files.exists("f")).toBe(false);
    const { sum, body } = leavePlanOf("theirs", at);
    await refused("WORKSPACE_UNFINISHED", {}, at);
    writeFileSync(join(at.root, ".holdfast/workspace/intent-a"), `${sum} ${body.slice(0, -9)}`);
    await work({}, at);
  });
});

describe("a workspace that cannot be opened", () => {
  /** What is open of all that was opened through it. */
  function counting(): { readonly port: HostPort; readonly open: Set<number> } {
    const open = new Set<number>();
    const opened = (handle: number) => {
      open.add(handle);
      return handle;
    };
    const port: HostPort = {
      ...realHost,
      openFolder: (path) => opened(realHost.openFolder(path)),
      openFile: (path, how) => opened(realHost.openFile(path, how)),
      close: (handle) => {
        realHost.close(handle);
        open.delete(handle);
      },
    };
    return { port, open };
  }

  test("[HOST-26] leaves nothing of it open, whatever it is refused for", async () => {
    const at = freshRoot();
    const { port, open } = counting();
    const { root } = at;
    const first = await inWorkspace({ workspace: { root, port } }, at);
    await first.session.close();
    await first.holdfast.close();
    expect(open.size).toBe(0);
    await refused("BAD_OPTION", { workspace: { root, port, rescue: { files: -1 } } }, at);
    expect(open.size).toBe(0);
    leavePlanOf("theirs", at);
    await refused("WORKSPACE_UNFINISHED", { workspace: { root, port } }, at);
    expect(open.size).toBe(0);
  });

  test("[HOST-26] that the system fails to close is free all the same", async () => {
    const at = freshRoot();
    const { root } = at;
    let isBroken = false;
    const close = (handle: number) => {
      realHost.close(handle);
      if (isBroken) throw Object.assign(new Error("EIO"), { code: "EIO" });
    };
    const { session, holdfast } = await inWorkspace({ workspace: { root, port: { ...realHost, close } } }, at);
    isBroken = true;
    await expect(session.close()).rejects.toMatchObject({
      code: "WORKSPACE_IO",
      details: { path: root, system: "EIO" },
    });
    isBroken = false;
    const next = await holdfast.open("s");
    await next.close();
    await holdfast.close();
  });
});

describe("limits and what is not covered", () => {
  test("[HOST-15] caps refuse and never cut: one file, one call, the old content included", async () => {
    const at = freshRoot();
    const workspace = { root: at.root, limits: { file: 100, call: 250, paths: 3 } };
    const { files, on } = await work({ workspace }, at);
    await expect(files.writeText("f", "x".repeat(101))).rejects.toEqual(coded("FILE_TOO_LARGE"));
    writeFileSync(on("big"), "x".repeat(101));
    await expect(files.read("big")).rejects.toEqual(coded("FILE_TOO_LARGE"));
    await expect(files.writeText("big", "small")).rejects.toEqual(coded("FILE_TOO_LARGE"));
    await expect(files.delete("big")).rejects.toEqual(coded("FILE_TOO_LARGE"));
    for (const name of ["1", "2", "3"]) writeFileSync(on(name), "x".repeat(90));
    mkdirSync(on("many"));
    for (const name of ["1", "2", "3", "4"]) writeFileSync(on(`many/${name}`), "");
    await expect(files.delete("many", { recursive: true })).rejects.toEqual(coded("FILE_CHANGE_TOO_LARGE"));
    expect((await files.list("many")).length).toBe(4);
  });

  test("[HOST-15] [K37] what could not be brought back is not taken away, and says so before anything happens", async () => {
    const { files, on, root } = await work();
    mkdirSync(on("pipes"));
    execFileSync("mkfifo", [on("pipes/p")]);
    mkdirSync(on("odd"));
    writeFileSync(Buffer.concat([Buffer.from(`${root}/odd/`), Buffer.from([0xff])]), "x");
    expect(await files.list("pipes")).toEqual([{ name: "p", kind: "other" }]);
    expect(await files.stat("pipes/p")).toEqual({ kind: "other" });
    await expect(files.read("pipes/p")).rejects.toEqual(coded("FILE_SPECIAL"));
    await expect(files.writeText("pipes/p", "x")).rejects.toEqual(coded("FILE_SPECIAL"));
    await expect(files.delete("pipes", { recursive: true })).rejects.toEqual(coded("FILE_NOT_COVERED"));
    expect(await files.list("odd")).toEqual([]);
    await expect(files.delete("odd", { recursive: true })).rejects.toEqual(coded("FILE_NOT_COVERED"));
    await expect(files.move("odd", "even")).rejects.toEqual(coded("FILE_NOT_COVERED"));
  });

  test("[HOST-15] a link that could not be made again as it is is neither taken away nor moved", async () => {
    const { run, put, on } = await work();
    const odd = Buffer.from("a\xffb", "latin1");
    put("d/f", "f");
    symlinkSync(odd, on("d/odd"));
    symlinkSync("\uFFFD", on("d/plain")); // looks like one, and is text
    for (const edit of [
      ({ files }) => files.delete("d/odd"),
      ({ files }) => files.delete("d", { recursive: true }),
      ({ files }) => files.move("d/odd", "elsewhere"),
    ] satisfies Edit[])
      expect(await run(edit)).toMatchObject({ ok: false, reason: "FILE_NOT_COVERED" });
    expect(readlinkSync(on("d/odd"), { encoding: "buffer" })).toEqual(odd);
    expect(await run(({ files }) => files.list("d"))).toMatchObject({ ok: true });
    expect(await run(({ files }) => files.delete("d/plain"))).toMatchObject({ ok: true });
  });

  test("[HOST-7] what is ours is no part of the user's repository, also when the disk was full as it was said so", async () => {
    const at = freshRoot();
    let isFull = true;
    const port = refusingDisk((text) => isFull && text === "*\n");
    await refused("WORKSPACE_IO", { workspace: { root: at.root, port } }, at);
    isFull = false;
    const { text } = await work({ workspace: { root: at.root, port } }, at);
    expect(text(".holdfast/.gitignore")).toBe("*\n");
  });

  test("[HOST-19] a folder of more names than a call has arguments is taken away when the limit allows it", async () => {
    const at = freshRoot();
    const names = Array.from({ length: 130_000 }, (_, n) => Buffer.from(`made-up-${n}`));
    const isMadeUp = (path: string) => path.includes("/made-up-");
    const port: HostPort = {
      ...realHost,
      names: (path) => (realHost.names(path).some((name) => name.toString() === "seed") ? names : realHost.names(path)),
      stat: (path) => (isMadeUp(path) ? { ...realHost.stat(at.root)!, kind: "link" } : realHost.stat(path)),
      readLink: (path) => (isMadeUp(path) ? "nowhere" : realHost.readLink(path)),
    };
    const { run, put } = await work({ workspace: { root: at.root, port, limits: { paths: 1e6, call: 1e9 } } }, at);
    put("top/many/seed", "");
    let seen: unknown;
    await run(async (call) => {
      await call.files.delete("top", { recursive: true });
      seen = await call.files.exists("top/many/made-up-1");
      return call.fail("enough", "nothing of it is there");
    });
    expect(seen).toBe(false);
  });

  test("[HOST-15] a write-protected file is its owner's", async () => {
    const { files, on } = await work();
    writeFileSync(on("f"), "x", { mode: 0o444 });
    await expect(files.writeText("f", "y")).rejects.toEqual(coded("FILE_PROTECTED"));
    expect(readFileSync(on("f"), "utf8")).toBe("x");
  });

  test.each([
    ["EACCES", "FILE_NOT_WRITABLE"],
    ["EXDEV", "FILE_OTHER_DEVICE"],
    ["EIO", "WORKSPACE_IO"],
  ])("[HOST-15] a system that says %s while preparing fails the call and nothing else", async (system, code) => {
    const at = freshRoot();
    let armed = false;
    const port: HostPort = {
      ...realHost,
      rename: (from, to) => {
        if (armed) throw Object.assign(new Error(system), { code: system });
        realHost.rename(from, to);
      },
    };
    const put = writes<string>("put", (text, call) => call.files.writeText("sub/f", text));
    const { session, on } = await work({ workspace: { root: at.root, port }, tools: [put] }, at);
    mkdirSync(on("sub"));
    writeFileSync(on("sub/f"), "old");
    armed = true;
    const { ok, reason } = await session.runTool({ name: "put", input: "new" });
    expect([ok, reason, readFileSync(on("sub/f"), "utf8")]).toEqual([false, code, "old"]);
    armed = false;
    expect((await session.runTool({ name: "put", input: "new" })).ok).toBe(true);
    expect(execFileSync("find", [at.root, "-name", ".holdfast-*"], { encoding: "utf8" })).toBe("");
  });

  test("[HOST-15] a folder on another file system is refused before the decision", async () => {
    const at = freshRoot();
    const port: HostPort = {
      ...realHost,
      statOpen: (handle) => {
        const stat = realHost.statOpen(handle);
        const elsewhere = realHost.readLink(realHost.folderName(handle) ?? "").endsWith("/mounted");
        return elsewhere ? { ...stat, dev: stat.dev + 1n } : stat;
      },
    };
    const { files, on } = await work({ workspace: { root: at.root, port } }, at);
    mkdirSync(on("mounted"));
    await expect(files.writeText("mounted/f", "x")).rejects.toEqual(coded("FILE_OTHER_DEVICE"));
    await files.writeText("beside", "x");
  });

  test.each(["EPERM", "ENOTSUP"])(
    "[HOST-23] on a file system without hard links, which says %s, a call is refused before the decision, and so is the next",
    async (system) => {
      const at = freshRoot();
      const linkAs = () => {
        throw Object.assign(new Error(system), { code: system });
      };
      const { files, on } = await work({ workspace: { root: at.root, port: { ...realHost, linkAs } } }, at);
      writeFileSync(on("old"), "old");
      const refused = coded("WORKSPACE_NO_LINKS");
      await expect(files.writeText("new", "x")).rejects.toEqual(refused);
      await expect(files.writeText("old", "x")).rejects.toEqual(refused);
      await expect(files.delete("old")).rejects.toEqual(refused);
      expect((await files.list()).map(({ name }) => name)).toEqual(["old"]);
      expect(await files.readText("old")).toBe("old");
      expect(execFileSync("find", [at.root, "-name", ".holdfast-*"], { encoding: "utf8" })).toBe("");
    },
  );
});

describe("other systems", () => {
  /** Where `A` and `a` are one name: every name is looked up without regard to its case. */
  const caseless = (): HostPort => {
    const real = (path: string) => {
      const at = path.lastIndexOf("/");
      const [folder, name] = [path.slice(0, at), path.slice(at + 1)];
      if (realHost.stat(folder) === undefined || realHost.stat(path) !== undefined) return path;
      try {
        const same = realHost.names(folder).find((other) => other.toString().toLowerCase() === name.toLowerCase());
        return same === undefined ? path : `${folder}/${same.toString()}`;
      } catch {
        return path;
      }
    };
    return {
      ...realHost,
      stat: (path) => realHost.stat(real(path)),
      openFile: (path, how) => realHost.openFile(how === "create" ? path : real(path), how),
      openFolder: (path) => realHost.openFolder(real(path)),
      linkAs: (from, to) => {
        if (realHost.stat(real(to)) !== undefined) throw Object.assign(new Error("EEXIST"), { code: "EEXIST" });
        realHost.linkAs(from, to);
      },
    };
  };

  test("[HOST-16] where case does not matter, a name in another case is another name: not found, not replaced, and renamed when asked", async () => {
    const at = freshRoot();
    const { files, on } = await work({ workspace: { root: at.root, port: caseless() } }, at);
    writeFileSync(on("Readme.md"), "x");
    expect([await files.exists("Readme.md"), await files.exists("README.md")]).toEqual([true, false]);
    await expect(files.writeText("README.md", "y")).rejects.toEqual(coded("FILE_CONFLICT"));
    await files.move("Readme.md", "README.md");
    expect((await files.list()).map(({ name }) => name)).toEqual(["README.md"]);
    expect(await files.readText("README.md")).toBe("x");
  });

  test("[HOST-16] names that mean devices, or come out changed, are refused where they do", async () => {
    for (const name of ["con", "NUL.txt", "com1", "a:b", "a?", "dot.", "space ", "LPT9.log", "x\u0001"])
      expect(nameFault(["dir", name], "win32")).toBeDefined();
    for (const name of ["console", "nullable", "com", "a.b", ".x"]) expect(nameFault([name], "win32")).toBeUndefined();
    expect(nameFault(["con"], "linux")).toBeUndefined();
    const at = freshRoot();
    const { files } = await work({ workspace: { root: at.root, port: { ...realHost, platform: "win32" } } }, at);
    await expect(files.writeText("aux.c", "x")).rejects.toEqual(coded("FILE_BAD_PATH"));
    await files.writeText("auxiliary.c", "x");
  });

  test("[HOST-16] where a folder's handle is no path, its chain is looked at before and after", async () => {
    const at = freshRoot();
    const port: HostPort = { ...realHost, folderName: () => undefined };
    const { files, on, root } = await work({ workspace: { root: at.root, port } }, at);
    await files.writeText("a/b/f", "x");
    await files.writeText("a/b/f", "y");
    expect(readFileSync(on("a/b/f"), "utf8")).toBe("y");
    mkdirSync(`${root}-outside`);
    symlinkSync(`${root}-outside`, on("out"));
    await expect(files.writeText("out/f", "x")).rejects.toEqual(coded("FILE_BAD_PATH"));
  });
});

test("[HOST-17] [K34] [T17] links out of the root are refused by everything and lead nowhere; links inside are followed", async () => {
  const { files, on, root } = await work();
  const outside = `${root}-secret`;
  mkdirSync(outside);
  writeFileSync(join(outside, "f"), "secret");
  mkdirSync(on("in"));
  writeFileSync(on("in/f"), "inside");
  symlinkSync(outside, on("out"));
  symlinkSync(join(outside, "f"), on("file"));
  symlinkSync("../../..", on("in/up"));
  symlinkSync(`${root}-secret/new`, on("dangling"));
  symlinkSync(join(root, "in"), on("absolute"));
  symlinkSync("/proc/self/cwd", on("proc"));
  symlinkSync(tmpdir(), on("tmp"));
  symlinkSync("out", on("chain"));
  symlinkSync(".holdfast", on("ours"));
  for (const path of [
    "out/f",
    "out",
    "file",
    "in/up/x",
    "dangling",
    "proc/x",
    "tmp/x",
    "chain/f",
    "ours/workspace/id",
  ]) {
    const uses = [
      () => files.read(path),
      () => files.writeText(path, "x"),
      () => files.edit(path, { find: "s", replace: "x" }),
      () => files.list(path),
      () => files.mkdir(`${path}/x`),
      () => files.chmod(path, 0o777),
      () => files.writeText(`${path}/deep/er`, "x"),
      () => files.move("in/f", `${path}/moved`),
      () => files.delete(`${path}/f`),
    ];
    for (const use of uses) await expect(use()).rejects.toEqual(coded("FILE_BAD_PATH"));
    expect(await files.exists(path)).toBe(false);
  }
  expect(await files.readText("absolute/f")).toBe("inside");
  expect(await files.glob("**")).not.toContain("out/f");
  expect(execFileSync("find", [outside, "-printf", "%P %m %s;"], { encoding: "utf8" })).toMatch(/^ \d+ \d+;f 644 6;$/);
  await files.delete("out");
  expect(readFileSync(join(outside, "f"), "utf8")).toBe("secret");
});

test("[HOST-14] a session that cannot be opened leaves its workspace to whoever comes next", async () => {
  const { root, store } = freshRoot();
  const named = () => writes("put", () => "done");
  const double = await createHoldfast({ store: sqlite(store), workspace: root, tools: [named(), named()] });
  await expect(double.open("s")).rejects.toMatchObject({ code: "TOOL_NAME_TAKEN" });
  const next = await inWorkspace({ tools: [named()] }, { root, store: `${store}-2` });
  expect(await next.session.runTool({ name: "put", input: {} })).toMatchObject({ ok: true });
  await next.session.close();
  await next.holdfast.close();
  await double.close();
});
