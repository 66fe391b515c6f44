import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type HostPort, realHost } from "../../src/files/host/port.ts";
import type { Holdfast, Session } from "../../src/index.ts";
import { collect } from "../support/stores.ts";
import { type Edit, freshRoot, work } from "../support/workspaces.ts";

/** Everything in a folder that is not ours: paths, what they hold, and what else they are. */
function tree(root: string, at = ""): readonly string[] {
  return readdirSync(join(root, at))
    .filter((name) => !name.startsWith(".holdfast"))
    .toSorted()
    .flatMap((name) => {
      const path = at === "" ? name : `${at}/${name}`;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) return [`${path}/`, ...tree(root, path)];
      return [stat.isFile() ? `${path}: ${readFileSync(join(root, path), "utf8")}` : `${path} (special)`];
    });
}

/** Does something each time a change is decided, before its files are put in place. */
function afterDeciding({ store }: Holdfast, work: () => void): void {
  const commit = store.commit.bind(store);
  store.commit = async (batch) => {
    const receipt = await commit(batch);
    if (JSON.stringify(batch).includes('"state-changed"')) work();
    return receipt;
  };
}

interface Race {
  readonly what: string;
  readonly before: Readonly<Record<string, string>>;
  readonly ours: Edit;
  /** What somebody else does when ours is decided and not yet in place. */
  readonly theirs: (on: (path: string) => string) => void;
  readonly after: readonly string[];
  /** Paths that are told of as not being what was decided. */
  readonly diverged: readonly string[];
  /** What of ours did not get in, and waits. */
  readonly waits?: readonly string[];
}

const RACES: readonly Race[] = [
  {
    what: "a file that we delete is gone already",
    before: { f: "one" },
    ours: (call) => call.files.delete("f"),
    theirs: (on) => rmSync(on("f")),
    after: [],
    diverged: [],
  },
  {
    what: "a file that we change is removed",
    before: { f: "one" },
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => rmSync(on("f")),
    after: [],
    diverged: ["f"],
    waits: ["ours"],
  },
  {
    what: "a file that we change becomes a folder of theirs",
    before: { f: "one" },
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => {
      rmSync(on("f"));
      mkdirSync(on("f"));
      writeFileSync(on("f/theirs"), "theirs");
    },
    after: ["f/", "f/theirs: theirs"],
    diverged: ["f"],
    waits: ["ours"],
  },
  {
    what: "a file that we change becomes a pipe of theirs",
    before: { f: "one" },
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => {
      rmSync(on("f"));
      execFileSync("mkfifo", [on("f")]);
    },
    after: ["f (special)"],
    diverged: ["f"],
    waits: ["ours"],
  },
  {
    what: "a name that we make is taken",
    before: {},
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => writeFileSync(on("f"), "theirs"),
    after: ["f: theirs"],
    diverged: ["f"],
    waits: ["ours"],
  },
  {
    what: "one of many names that we make is taken",
    before: { "d/x": "x" },
    ours: async (call) => {
      for (const name of ["a", "b", "c"]) await call.files.writeText(`d/${name}`, `our ${name}`);
    },
    theirs: (on) => writeFileSync(on("d/b"), "theirs"),
    after: ["d/", "d/a: our a", "d/b: theirs", "d/c: our c", "d/x: x"],
    diverged: ["d/b"],
    waits: ["our b"],
  },
  {
    what: "the folder of a file that we change goes",
    before: { "d/f": "one", e: "e" },
    ours: (call) => call.files.writeText("d/f", "ours"),
    theirs: (on) => rmSync(on("d"), { recursive: true }),
    after: ["e: e"],
    diverged: ["d/f"],
    waits: [],
  },
  {
    what: "the folder of files that we delete goes",
    before: { "d/f": "one", e: "e" },
    ours: (call) => call.files.delete("d/f"),
    theirs: (on) => rmSync(on("d"), { recursive: true }),
    after: ["e: e"],
    diverged: [],
  },
  {
    what: "where we make a folder a file comes",
    before: { e: "e" },
    ours: async (call) => {
      await call.files.mkdir("d");
      await call.files.mkdir("d/deep");
    },
    theirs: (on) => writeFileSync(on("d"), "theirs"),
    after: ["d: theirs", "e: e"],
    diverged: ["d", "d/deep"],
  },
  {
    what: "where we make a folder one of theirs comes, and keeps its mode",
    before: { e: "e" },
    ours: (call) => call.files.mkdir("d"),
    theirs: (on) => mkdirSync(on("d"), { mode: 0o750 }),
    after: ["d/", "e: e"],
    diverged: [],
  },
  {
    what: "into a folder that we remove something comes",
    before: { "d/f": "one" },
    ours: (call) => call.files.delete("d", { recursive: true }),
    theirs: (on) => writeFileSync(on("d/theirs"), "theirs"),
    after: ["d/", "d/theirs: theirs"],
    diverged: ["d"],
  },
  {
    what: "a folder that we remove is gone already",
    before: { "d/f": "one", e: "e" },
    ours: (call) => call.files.delete("d", { recursive: true }),
    theirs: (on) => rmSync(on("d"), { recursive: true }),
    after: ["e: e"],
    diverged: [],
  },
];

describe("between the decision and the files, somebody else", () => {
  test.each(RACES)(
    "[HOST-5] [K40] $what: theirs stays, ours is kept, and it is told",
    async ({ before, ours, theirs, after, diverged, waits = [] }) => {
      const { run, put, on, root, holdfast, journalled, rescued, session } = await work();
      for (const [path, text] of Object.entries(before)) put(path, text);
      let raced = 0;
      afterDeciding(holdfast, () => {
        raced += 1;
        if (raced === 1) theirs(on);
      });
      expect(await run(ours)).toMatchObject({ ok: true });
      expect(raced).toBe(1);
      expect(tree(root)).toEqual(after);
      const told = (await journalled("file-diverged")) as readonly { path: string }[];
      expect(told.map(({ path }) => path)).toEqual(diverged);
      for (const text of waits) expect(rescued()).toContain(text);
      expect(session.state.poisoned).toBe(false);
      expect(await run((call) => call.files.writeText("next", "next"))).toMatchObject({ ok: true });
    },
  );
});

describe("a commit whose files are cut off at any step", () => {
  const CHANGES = new Set<keyof HostPort>(["rename", "linkAs", "unlink", "makeFolder", "removeFolder", "mode"]);
  /** Does, from when it is armed, so many changes; the next one is done or not, fails, and so does all after it. */
  const failing = (armed: { left: number; done: boolean }): HostPort =>
    new Proxy(realHost, {
      get: (target, name) => {
        const work = Reflect.get(target, name) as (...args: unknown[]) => unknown;
        if (!CHANGES.has(name as keyof HostPort)) return work;
        return (...args: unknown[]) => {
          armed.left -= 1;
          if (armed.left >= 0) return work(...args);
          if (armed.left === -1 && armed.done) work(...args);
          throw Object.assign(new Error("EIO"), { code: "EIO" });
        };
      },
    });

  const changes: Edit = async (call) => {
    await call.files.writeText("f", "two");
    await call.files.writeText("g", "new");
    for (const name of ["a", "b"]) await call.files.writeText(`many/${name}`, name);
    await call.files.writeText("fresh/deep/h", "h");
    await call.files.mkdir("empty");
    await call.files.delete("gone");
    await call.files.delete("old", { recursive: true });
  };
  const wanted = [
    "empty/",
    "f: two",
    "fresh/",
    "fresh/deep/",
    "fresh/deep/h: h",
    "g: new",
    "many/",
    "many/a: a",
    "many/b: b",
    "many/x: one",
  ];

  test("[HOST-8] [HOST-9] goes in whole at the next opening, whether or not that step was done", async () => {
    let left = 0;
    for (let finished = false; !finished; left += 1) {
      const at = freshRoot();
      const armed = { left: Number.POSITIVE_INFINITY, done: left % 2 === 0 };
      const { run, put, root, holdfast } = await work({ workspace: { root: at.root, port: failing(armed) } }, at);
      for (const path of ["f", "gone", "old/y", "many/x"]) put(path, "one");
      afterDeciding(holdfast, () => (armed.left = left));
      expect(await run(changes)).toMatchObject({ ok: true });
      finished = armed.left >= 0;
      await holdfast.close().catch(() => {});
      const again = await work({}, at);
      expect([left, tree(root)]).toEqual([left, wanted]);
      expect([left, await again.journalled("file-diverged")]).toEqual([left, []]);
    }
    expect(left).toBeGreaterThan(10);
  });
});

interface Return {
  readonly what: string;
  readonly before: Readonly<Record<string, string>>;
  readonly ours: Edit;
  /** What somebody else does to it afterwards, before it is taken back. */
  readonly theirs: (on: (path: string) => string) => void;
  readonly after: readonly string[];
  readonly kept: readonly { readonly path: string; readonly why: string }[];
}

const RETURNS: readonly Return[] = [
  {
    what: "a file of ours is a pipe of theirs",
    before: { f: "one" },
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => {
      rmSync(on("f"));
      execFileSync("mkfifo", [on("f")]);
    },
    after: ["f (special)"],
    kept: [{ path: "f", why: "special" }],
  },
  {
    what: "a file of ours is gone",
    before: { f: "one" },
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => rmSync(on("f")),
    after: [],
    kept: [{ path: "f", why: "removed" }],
  },
  {
    what: "where we deleted a file they made one",
    before: { f: "one" },
    ours: (call) => call.files.delete("f"),
    theirs: (on) => writeFileSync(on("f"), "theirs"),
    after: ["f: theirs"],
    kept: [{ path: "f", why: "made" }],
  },
  {
    what: "the folder of a file that we deleted is gone",
    before: { "d/f": "one", "d/g": "g", e: "e" },
    ours: (call) => call.files.delete("d/f"),
    theirs: (on) => rmSync(on("d"), { recursive: true }),
    after: ["e: e"],
    kept: [{ path: "d/f", why: "no-folder" }],
  },
  {
    what: "in a folder that we made lies something of theirs",
    before: { e: "e" },
    ours: (call) => call.files.writeText("d/f", "ours"),
    theirs: (on) => writeFileSync(on("d/theirs"), "theirs"),
    after: ["d/", "d/theirs: theirs", "e: e"],
    kept: [{ path: "d", why: "not-empty" }],
  },
  {
    what: "they have put back themselves what we changed",
    before: { f: "one" },
    ours: (call) => call.files.writeText("f", "ours"),
    theirs: (on) => writeFileSync(on("f"), "one"),
    after: ["f: one"],
    kept: [],
  },
];

describe("before a rewind, somebody else", () => {
  test.each(RETURNS)(
    "[HOST-11] $what: that stays, is told beforehand, and the rest goes back",
    async ({ before, ours, theirs, after, kept }) => {
      const { run, put, on, root, session } = await work();
      for (const [path, text] of Object.entries(before)) put(path, text);
      const { callId } = await run(async (call) => {
        await ours(call);
        await call.files.writeText("zz", "ours");
      });
      theirs(on);
      const planned = await session.rewind({ before: callId, dryRun: true });
      expect(planned.files?.kept).toEqual(kept);
      const done = await session.rewind({ before: callId });
      expect(done.files).toMatchObject({ kept, unlike: [] });
      expect(tree(root)).toEqual(after);
    },
  );
});

describe("between the moment that an old file is taken out of the way and the moment that the new one is in", () => {
  /** Somebody acts right after the file `f` was moved to rescue. */
  const meddled = (meddle: (lies: string) => void, more: Partial<HostPort> = {}): HostPort => ({
    ...realHost,
    rename: (from, to) => {
      realHost.rename(from, to);
      if (from.endsWith("/f") && !to.endsWith("/f")) meddle(to);
    },
    ...more,
  });
  const told = async (session: Session) =>
    (await collect(session.read())).flatMap((entry) => (entry.kind === "file-diverged" ? [entry.path] : []));

  test("[HOST-8] a folder that is moved keeps what was theirs, and ours waits aside", async () => {
    const at = freshRoot();
    const on = (path: string) => join(at.root, path);
    const port = meddled(() => renameSync(on("d"), on("moved")));
    const { run, put, session } = await work({ workspace: { root: at.root, port } }, at);
    put("d/f", "one");
    expect((await run((call) => call.files.writeText("d/f", "ours"))).ok).toBe(true);
    expect(readdirSync(on("moved"))).toEqual(["f"]); // and nothing of ours
    expect([tree(at.root), await told(session)]).toEqual([["moved/", "moved/f: one"], ["d/f"]]);
    expect(session.workspace?.rescued().map(({ path, whose }) => [path, whose])).toEqual([["d/f", "ours"]]);
    expect((await run((call) => call.files.writeText("g", "g"))).ok).toBe(true);
  });

  test("[HOST-8] a folder that is moved when the process dies is told of by the next, and what lay there is kept", async () => {
    const at = freshRoot();
    const on = (path: string) => join(at.root, path);
    const state = { dead: false };
    const dead = () => {
      if (state.dead) throw Object.assign(new Error("dead"), { code: "EIO" });
    };
    const port = meddled(
      () => {
        renameSync(on("d"), on("moved"));
        state.dead = true;
      },
      { openFile: (...args) => (dead(), realHost.openFile(...args)) },
    );
    const one = await work({ workspace: { root: at.root, port } }, at);
    one.put("d/f", "one");
    await one.run((call) => call.files.writeText("d/f", "ours"));
    await one.session.close().catch(() => {});
    await one.holdfast.close().catch(() => {});
    const two = await work({}, at);
    expect(await told(two.session)).toEqual(["d/f"]);
    expect(two.rescued()).toContain("one");
    expect(two.session.workspace?.rescued().map(({ path, whose }) => [path, whose])).toEqual([["d/f", "theirs"]]);
  });

  test("[HOST-8] a file that only its owner may read is put back, and nothing waits for ever", async () => {
    const at = freshRoot();
    const theirs = { is: false };
    const lock = (lies: string) => {
      theirs.is = true;
      chmodSync(lies, 0o000);
    };
    const port = meddled(lock, {
      openFile: (path, how) => {
        // In rescue it is the only one that is read meanwhile.
        if (theirs.is && how === "read") throw Object.assign(new Error("not yours"), { code: "EACCES" });
        return realHost.openFile(path, how);
      },
      linkAs: (from, to) => {
        theirs.is = false;
        realHost.linkAs(from, to);
      },
    });
    const { run, put, session, text } = await work({ workspace: { root: at.root, port } }, at);
    put("f", "one");
    expect((await run((call) => call.files.writeText("f", "ours"))).ok).toBe(true);
    expect([text("f"), await told(session)]).toEqual(["one", ["f"]]);
    expect((await run((call) => call.files.writeText("g", "g"))).ok).toBe(true);
  });
});
