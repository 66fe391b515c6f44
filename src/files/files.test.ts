import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rig, writes } from "../../test/support/calls.ts";
import type { Json } from "../base/json.ts";
import type { Filesystem } from "../contracts/filesystem.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { filesOf } from "./access.ts";
import { InMemoryFilesystem } from "./memory.ts";
import { filesPart } from "./part.ts";
import type { TreeFolder } from "./tree.ts";

const coded = (code: string) => expect.objectContaining({ code });

const content = fc.uint8Array({ maxLength: 4 });
const place = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const change = fc.oneof(
  fc.record({ do: fc.constant("write" as const), path: place, bytes: content }),
  fc.record({ do: fc.constant("delete" as const), path: place }),
  fc.record({ do: fc.constant("mkdir" as const), path: place }),
  fc.record({ do: fc.constant("move" as const), path: place, to: place }),
  fc.record({ do: fc.constant("link" as const), path: place, to: place }),
  fc.record({ do: fc.constant("chmod" as const), path: place, mode: fc.constantFrom(0o600, 0o755) }),
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
      link: () => files.link(step.path, "to" in step ? step.to : ""),
      chmod: () => files.chmod(step.path, "mode" in step ? step.mode : 0),
    }[step.do]();
    await done.catch(() => {});
  }
}

describe("the files as a part of the root", () => {
  test("[FILE-19] text that no file can hold is refused, written and edited, and leaves the file as it was", async () => {
    const files = new InMemoryFilesystem();
    await files.writeText("a", "smile \u{1F600}");
    const refused = { code: "FILE_TEXT_BROKEN", details: { path: "a", at: 6 } };
    await expect(files.writeText("a", "smile \ud83d")).rejects.toMatchObject(refused);
    await expect(files.edit("a", { find: /[\udc00-\udfff]/, replace: "" })).rejects.toMatchObject(refused);
    expect(await files.readText("a")).toBe("smile \u{1F600}");
    await files.writeText("a", "smile \ud83d".toWellFormed());
    expect(await files.readText("a")).toBe("smile \uFFFD");
  });

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
    for (const bad of [1, {}, [{ path: 1 }], [{ path: "a", kind: "pipe" }]] as unknown as Json[]) {
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
