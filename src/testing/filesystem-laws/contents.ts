import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { nameOfBytes } from "../../records/blob-name.ts";
import { type FilesystemBook, gather, names, refuses } from "./context.ts";

/** Bytes in, the same bytes out; and what may not be replaced, lost or guessed. */
export const contents: FilesystemBook = [
  [
    "[FILE-2] what is written is read back, byte for byte, and is nobody else's to change",
    async ({ open }) => {
      const files = await open();
      const bytes = Uint8Array.from([0, 255, 128]);
      await files.write("a/b/c.bin", bytes);
      bytes[0] = 9;
      const read = await files.read("a/b/c.bin");
      deepStrictEqual([...read], [0, 255, 128]);
      read[0] = 9;
      deepStrictEqual([...(await files.read("./a//b/c.bin"))], [0, 255, 128]);
      await files.writeText("t.txt", "\ufeffgrün\r\n");
      strictEqual(await files.readText("t.txt"), "\ufeffgrün\r\n");
      await files.write("empty", new Uint8Array());
      strictEqual((await files.read("empty")).length, 0);
      await refuses("FILE_NOT_TEXT", files.readText("a/b/c.bin"));
    },
  ],
  [
    "[FILE-3] lists in order, tells files from folders, and knows sizes and digests",
    async ({ open }) => {
      const files = await open();
      await files.writeText("b", "two");
      await files.writeText("a/x", "one");
      await files.mkdir("empty/deep");
      await files.mkdir("empty");
      deepStrictEqual(await files.list(), [
        { name: "a", kind: "folder" },
        { name: "b", kind: "file" },
        { name: "empty", kind: "folder" },
      ]);
      deepStrictEqual(await files.list("empty"), [{ name: "deep", kind: "folder" }]);
      const digest = nameOfBytes(Buffer.from("two"));
      deepStrictEqual(await files.stat("b"), { kind: "file", size: 3, mode: 0o644, digest });
      deepStrictEqual(await files.stat(""), { kind: "folder" });
      const exist = [await files.exists("a/x"), await files.exists("a/y"), await files.exists("b/x")];
      deepStrictEqual(exist, [true, false, false]);
    },
  ],
  [
    "[FILE-4] moves and deletes, and refuses what would lose something",
    async ({ open }) => {
      const files = await open();
      await files.writeText("a/x", "one");
      await files.writeText("b", "two");
      await files.move("a", "c/d");
      strictEqual(await files.readText("c/d/x"), "one");
      strictEqual(await files.exists("a"), false);
      await refuses("FILE_EXISTS", files.move("b", "c/d/x"));
      await refuses("FILE_BAD_PATH", files.move("c", "c/d/e"));
      await refuses("FILE_NOT_FOUND", files.move("none", "e"));
      await refuses("FILE_IS_FOLDER", files.delete("c"));
      await files.delete("c", { recursive: true });
      await files.delete("b");
      await files.mkdir("e");
      await files.delete("e");
      deepStrictEqual(await files.list(), []);
      await refuses("FILE_NOT_FOUND", files.delete("b"));
      await refuses("FILE_NOT_FOUND", files.delete("", { recursive: true }));
    },
  ],
  [
    "[FILE-4] a file is no folder and a folder no file",
    async ({ open }) => {
      const files = await open();
      await files.writeText("f", "x");
      await files.mkdir("d");
      await refuses("FILE_NOT_FOLDER", files.writeText("f/x", "x"));
      await refuses("FILE_NOT_FOLDER", files.mkdir("f"));
      await refuses("FILE_NOT_FOLDER", files.mkdir("f/x"));
      await refuses("FILE_NOT_FOLDER", files.list("f"));
      await refuses("FILE_NOT_FOUND", files.list("none"));
      await refuses("FILE_IS_FOLDER", files.writeText("d", "x"));
      await refuses("FILE_IS_FOLDER", files.read("d"));
      await refuses("FILE_IS_FOLDER", files.writeText("", "x"));
      await refuses("FILE_NOT_FOUND", files.read("none"));
      await refuses("FILE_NOT_FOUND", files.stat("none"));
      await refuses("FILE_NOT_FOUND", files.chmod("none", 0o600));
    },
  ],
  [
    "[FILE-4] what was deleted can be made again, as something else",
    async ({ open }) => {
      const files = await open();
      await files.writeText("x", "file");
      await files.delete("x");
      await files.writeText("x/y", "in a folder");
      deepStrictEqual(await names(files, "x"), ["y"]);
      await files.delete("x", { recursive: true });
      await files.writeText("x", "again");
      strictEqual(await files.readText("x"), "again");
    },
  ],
  [
    "[FILE-9] an edit changes the one place it names, all edits or none, and refuses to guess",
    async ({ open }) => {
      const files = await open();
      await files.writeText("f", "one two one");
      strictEqual(await files.edit("f", { find: "two", replace: "2 $& $1" }), 1);
      strictEqual(await files.readText("f"), "one 2 $& $1 one");
      await refuses("FILE_EDIT_AMBIGUOUS", files.edit("f", { find: "one", replace: "1" }));
      await refuses("FILE_EDIT_NOT_FOUND", files.edit("f", { find: "three", replace: "3" }));
      await refuses("FILE_EDIT_NOT_FOUND", files.edit("f", { find: "", replace: "3" }));
      await refuses("FILE_EDIT_NOT_FOUND", files.edit("f", { find: /three/, replace: "3" }));
      await refuses("FILE_EDIT_AMBIGUOUS", files.edit("f", { find: /o(n)e/g, replace: "1" }));
      const half = [
        { find: "2", replace: "two" },
        { find: "missing", replace: "" },
      ];
      await refuses("FILE_EDIT_NOT_FOUND", files.edit("f", half));
      strictEqual(await files.readText("f"), "one 2 $& $1 one");
      strictEqual(await files.edit("f", { find: "one", replace: "1", all: true }), 2);
      strictEqual(
        await files.edit("f", [
          { find: /1(?= 2)/, replace: "<$&>" },
          { find: "<1>", replace: "!" },
        ]),
        2,
      );
      strictEqual(await files.readText("f"), "! 2 $& $1 1");
      await refuses("FILE_NOT_FOUND", files.edit("none", { find: "a", replace: "b" }));
    },
  ],
  [
    "[FILE-12] content streams in and out in pieces, also from a source that reuses its buffer, and a range is a range",
    async ({ open }) => {
      const files = await open();
      const buffer = new Uint8Array(1000);
      const source = function* () {
        for (let at = 0; at < 300; at += 1) yield buffer.fill(at % 251);
      };
      await files.writeStream("large", source());
      const whole = Buffer.concat(await gather(files.readStream("large")));
      strictEqual(whole.length, 300_000);
      for (const at of [0, 999, 1000, 250_999, 251_000, 299_999]) strictEqual(whole[at], Math.floor(at / 1000) % 251);
      ok(whole.equals(await files.read("large")));
      const range = await gather(files.readStream("large", { from: 998, to: 1003 }));
      ok(Buffer.concat(range).equals(Buffer.from([0, 0, 1, 1, 1])), "a range is not that range"); // a diff of the whole takes minutes
      const broken = async function* () {
        yield Uint8Array.of(1);
        throw new RangeError("the source broke");
      };
      await files.writeStream("large", broken()).then(
        () => ok(false, "a broken source was taken for a whole one"),
        (error: unknown) => ok(error instanceof RangeError),
      );
      ok(whole.equals(await files.read("large")), "a broken source left a half file");
    },
  ],
  [
    "[FILE-15] a file beyond the limit is refused and never cut, whole or streamed",
    async ({ open }) => {
      const files = await open();
      await files.writeText("f", "before");
      const size = files.limits.file + 1;
      await refuses("FILE_TOO_LARGE", files.write("f", { length: size } as unknown as Uint8Array));
      const piece = new Uint8Array(8 * 1024 * 1024);
      const source = function* () {
        for (let left = size; left > 0; left -= piece.length) yield piece;
      };
      await refuses("FILE_TOO_LARGE", files.writeStream("f", source()));
      strictEqual(await files.readText("f"), "before");
    },
  ],
];
