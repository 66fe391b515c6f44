import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rig, writes } from "../../test/support/calls.ts";
import type { Json } from "../base/json.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { filesOf } from "./access.ts";
import { LARGEST_FILE } from "./filesystem.ts";
import { InMemoryFilesystem } from "./memory.ts";
import { filesPart } from "./part.ts";
import type { TreeFolder } from "./tree.ts";

const coded = (code: string) => expect.objectContaining({ code });

describe.each([
  ["on its own", () => new InMemoryFilesystem() as Filesystem],
  ["in a state", () => filesOf(ExecutionState.create({ parts: [filesPart] }))],
])("files in memory, %s", (_name, make) => {
  test("[FILE-2] what is written is read back, byte for byte, and is nobody else's to change", async () => {
    const files = make();
    const bytes = Uint8Array.from([0, 255, 128]);
    await files.write("a/b/c.bin", bytes);
    bytes[0] = 9;
    const read = await files.read("a/b/c.bin");
    expect([...read]).toEqual([0, 255, 128]);
    read[0] = 9;
    expect([...(await files.read("./a//b/c.bin"))]).toEqual([0, 255, 128]);
    await files.writeText("t.txt", "\ufeffgrün\r\n");
    expect(await files.readText("t.txt")).toBe("\ufeffgrün\r\n");
    await expect(files.readText("a/b/c.bin")).rejects.toEqual(coded("FILE_NOT_TEXT"));
  });

  test("[FILE-3] lists in order, tells files from folders, and knows sizes and digests", async () => {
    const files = make();
    await files.writeText("b", "two");
    await files.writeText("a/x", "one");
    await files.mkdir("empty/deep");
    await files.mkdir("empty");
    expect(await files.list()).toEqual([
      { name: "a", kind: "folder" },
      { name: "b", kind: "file" },
      { name: "empty", kind: "folder" },
    ]);
    expect(await files.list("empty")).toEqual([{ name: "deep", kind: "folder" }]);
    expect(await files.stat("b")).toMatchObject({ kind: "file", size: 3, digest: expect.stringMatching(/^sha256-/) });
    expect(await files.stat("")).toEqual({ kind: "folder" });
    expect([await files.exists("a/x"), await files.exists("a/y"), await files.exists("b/x")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("[FILE-4] moves and deletes, and refuses what would lose something", async () => {
    const files = make();
    await files.writeText("a/x", "one");
    await files.writeText("b", "two");
    await files.move("a", "c/d");
    expect(await files.readText("c/d/x")).toBe("one");
    await expect(files.move("b", "c/d/x")).rejects.toEqual(coded("FILE_EXISTS"));
    await expect(files.move("c", "c/d/e")).rejects.toEqual(coded("FILE_BAD_PATH"));
    await expect(files.move("none", "e")).rejects.toEqual(coded("FILE_NOT_FOUND"));
    await expect(files.delete("c")).rejects.toEqual(coded("FILE_IS_FOLDER"));
    await files.delete("c", { recursive: true });
    await files.delete("b");
    await files.mkdir("e");
    await files.delete("e");
    expect(await files.list()).toEqual([]);
    await expect(files.delete("b")).rejects.toEqual(coded("FILE_NOT_FOUND"));
  });

  test("[FILE-4] a file is no folder and a folder no file", async () => {
    const files = make();
    await files.writeText("f", "x");
    await files.mkdir("d");
    await expect(files.writeText("f/x", "x")).rejects.toEqual(coded("FILE_NOT_FOLDER"));
    await expect(files.mkdir("f")).rejects.toEqual(coded("FILE_NOT_FOLDER"));
    await expect(files.list("f")).rejects.toEqual(coded("FILE_NOT_FOLDER"));
    await expect(files.list("none")).rejects.toEqual(coded("FILE_NOT_FOUND"));
    await expect(files.writeText("d", "x")).rejects.toEqual(coded("FILE_IS_FOLDER"));
    await expect(files.read("d")).rejects.toEqual(coded("FILE_IS_FOLDER"));
    await expect(files.read("none")).rejects.toEqual(coded("FILE_NOT_FOUND"));
    await expect(files.stat("none")).rejects.toEqual(coded("FILE_NOT_FOUND"));
    const large = { length: LARGEST_FILE + 1 } as unknown as Uint8Array;
    await expect(files.write("large", large)).rejects.toEqual(coded("FILE_TOO_LARGE"));
  });

  test.each(["../x", "a/../../x", "/etc/passwd", "a\0b", "..", `${"n".repeat(256)}`, "x/".repeat(3000), "\ud800"])(
    "[FILE-5] a path that leaves the root or cannot be a path is refused everywhere: %j",
    async (path) => {
      const files = make();
      await files.writeText("here", "x");
      const uses = [
        () => files.read(path),
        () => files.writeText(path, "x"),
        () => files.delete(path),
        () => files.move(path, "y"),
        () => files.move("here", path),
        () => files.list(path),
        () => files.stat(path),
        () => files.mkdir(path),
      ];
      for (const use of uses) await expect(use()).rejects.toEqual(coded("FILE_BAD_PATH"));
      expect(await files.exists(path)).toBe(false);
    },
  );
});

const content = fc.uint8Array({ maxLength: 4 });
const place = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const change = fc.oneof(
  fc.record({ do: fc.constant("write" as const), path: place, bytes: content }),
  fc.record({ do: fc.constant("delete" as const), path: place }),
  fc.record({ do: fc.constant("mkdir" as const), path: place }),
  fc.record({ do: fc.constant("move" as const), path: place, to: place }),
);

async function changed(
  files: Filesystem,
  changes: readonly (typeof change extends fc.Arbitrary<infer C> ? C : never)[],
): Promise<void> {
  for (const step of changes) {
    const done = {
      write: () => files.write(step.path, "bytes" in step ? step.bytes : new Uint8Array()),
      delete: () => files.delete(step.path, { recursive: true }),
      mkdir: () => files.mkdir(step.path),
      move: () => files.move(step.path, "to" in step ? step.to : ""),
    }[step.do]();
    await done.catch(() => {});
  }
}

describe("the files as a part of the root", () => {
  test("[FILE-6] the change between two trees, stored and applied, gives the second; so does the whole tree", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 12 }),
        fc.array(change, { maxLength: 12 }),
        async (first, second) => {
          const files = new InMemoryFilesystem();
          await changed(files, first);
          const before = files.snapshot().tree;
          await changed(files, second);
          const after = files.snapshot().tree;
          const { delta, contents = [] } = filesPart.change(before, after) ?? { delta: { gone: [], put: [] } };
          const bytes = new Map(contents.map(({ name, bytes }) => [name, bytes]));
          const applied = filesPart.apply(before, JSON.parse(JSON.stringify(delta)) as Json);
          expect(filesPart.contents?.fill(applied, (name) => bytes.get(name))).toEqual(after);
          const whole = filesPart.decode(JSON.parse(JSON.stringify(filesPart.encode(after))) as Json);
          const all = new Map([...(filesPart.contents?.of(after) ?? [])].map(({ name, bytes }) => [name, bytes]));
          expect(filesPart.contents?.fill(whole, (name) => all.get(name))).toEqual(after);
        },
      ),
    );
  });

  test("[FILE-6] an unchanged tree is no change, and data that is not files is refused", () => {
    const { tree } = new InMemoryFilesystem().snapshot({ tag: "x" });
    expect(filesPart.change(tree, tree)).toBeUndefined();
    for (const bad of [1, {}, [{ path: 1 }], [{ path: "a", kind: "link" }]] as unknown as Json[]) {
      expect(() => filesPart.decode(bad)).toThrowError(coded("SNAPSHOT_CORRUPT"));
      expect(() => filesPart.apply(tree, bad)).toThrowError(coded("SNAPSHOT_CORRUPT"));
    }
    expect(() => filesPart.decode([{ path: "../x", kind: "folder" }])).toThrowError(coded("FILE_BAD_PATH"));
    expect(() => filesPart.decode([{ path: "", kind: "folder" }])).toThrowError(coded("FILE_BAD_PATH"));
    expect(() => filesPart.decode([{ path: "a", kind: "file" }])).toThrowError(coded("BLOB_BAD_NAME"));
  });

  test("[FILE-7] [K45] a snapshot carries the files to another process", async () => {
    const one = ExecutionState.create({ parts: [filesPart] });
    await filesOf(one).writeText("__proto__/constructor", "odd name");
    await filesOf(one).write("bin", Uint8Array.from([0, 1, 2]));
    const text = one.toJson(await one.snapshot());
    const two = ExecutionState.create({ parts: [filesPart] });
    await two.restore(two.fromJson(text));
    expect(two.root.get("files")).toEqual(one.root.get("files"));
    expect(await filesOf(two).readText("__proto__/constructor")).toBe("odd name");
    const broken = text
      .split("\n")
      .filter((line) => !line.includes('"contents/'))
      .join("\n");
    expect(() => two.fromJson(broken)).toThrowError(coded("SNAPSHOT_CORRUPT"));
  });

  test("[FILE-7] [SNAP-8] [T14] [T17] chosen paths are restored alone: changed, deleted and created ones", async () => {
    const state = ExecutionState.create({ parts: [filesPart] });
    const files = filesOf(state);
    await files.writeText("src/changed", "old");
    await files.writeText("src/deleted", "old");
    await files.writeText("other", "old");
    const before = await state.snapshot();
    await files.writeText("src/changed", "new");
    await files.delete("src/deleted");
    await files.writeText("src/created", "new");
    await files.writeText("other", "new");
    const now = state.root;
    await state.restore(before, { paths: ["src"] });
    expect((await files.list("src")).map(({ name }) => name)).toEqual(["changed", "deleted"]);
    expect([await files.readText("src/changed"), await files.readText("other")]).toEqual(["old", "new"]);
    await expect(state.restore(before, { paths: ["../x"] })).rejects.toEqual(coded("FILE_BAD_PATH"));
    await state.restore(before, { paths: [""] });
    expect(state.root.get("files")).toEqual(before.session.slices.get("files"));
    expect(now).not.toBe(state.root);
  });

  test("[FILE-8] a snapshot of many files is one reference, and a call's write leaves the rest shared", async () => {
    const { state, transactions } = rig([
      writes<{ n: number }>("write", ({ n }, call) => call.files.writeText(`dir/${n}`, `${n}`)),
    ]);
    for (let n = 0; n < 50; n += 1) await transactions.run({ id: `c${n}`, name: "write", input: { n } });
    const before = state.root.get("files") as TreeFolder;
    expect(state.session.snapshot().slices.get("files")).toBe(before);
    await transactions.run({ id: "again", name: "write", input: { n: 7 } });
    expect(state.root.get("files")).toBe(before);
    expect(() => filesOf(ExecutionState.create())).toThrowError(coded("SLICE_UNKNOWN"));
  });

  test("[FILE-2] files in memory can be captured and put back on their own", async () => {
    const files = new InMemoryFilesystem();
    await files.writeText("a", "1");
    const before = files.snapshot({ tag: "t" });
    await files.writeText("a", "2");
    files.restore(before);
    expect([await files.readText("a"), before.tag]).toEqual(["1", "t"]);
  });
});
