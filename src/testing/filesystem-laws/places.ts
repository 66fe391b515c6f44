import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type FilesystemBook, gather, names, refuses } from "./context.ts";

const OUTSIDE = [
  "../x",
  "a/../../x",
  "/etc/passwd",
  "a\0b",
  "..",
  "n".repeat(256),
  "x/".repeat(3000),
  "\ud800",
  "a/..",
] as const;

const ODD = [
  "with space",
  "line\nbreak",
  "tab\t",
  "-rf",
  "__proto__",
  "constructor",
  "grün",
  "日本",
  "a'b\"c`$(x)",
  "*",
  "[a]",
  "back\\slash",
  "..dots",
] as const;

/** Where a path may lead, what a walk finds, and what modes and links are. */
export const places: FilesystemBook = [
  [
    "[FILE-5] a path that leaves the root or cannot be a path is refused by every operation, and does not exist",
    async ({ open }) => {
      const files = await open();
      await files.writeText("here", "x");
      for (const path of OUTSIDE) {
        const uses = [
          () => files.read(path),
          () => files.readText(path),
          () => gather(files.readStream(path)),
          () => files.writeText(path, "x"),
          () => files.writeStream(path, Buffer.from("x")),
          () => files.edit(path, { find: "x", replace: "y" }),
          () => files.delete(path, { recursive: true }),
          () => files.move(path, "y"),
          () => files.move("here", path),
          () => files.list(path),
          () => files.glob("*", { path }),
          () => gather(files.grep("x", { path })),
          () => files.stat(path),
          () => files.mkdir(path),
          () => files.chmod(path, 0o600),
          () => files.link(path, "here"),
        ];
        for (const use of uses) await refuses("FILE_BAD_PATH", use());
        strictEqual(await files.exists(path), false);
      }
      deepStrictEqual(await names(files), ["here"]);
    },
  ],
  [
    "[FILE-5] odd names are only names",
    async ({ open }) => {
      const files = await open();
      for (const name of ODD) await files.writeText(`odd/${name}`, name);
      deepStrictEqual(await names(files, "odd"), ODD.toSorted());
      for (const name of ODD) strictEqual(await files.readText(`odd/${name}`), name);
      for (const name of ODD) await files.delete(`odd/${name}`);
      deepStrictEqual(await names(files, "odd"), []);
    },
  ],
  [
    "[FILE-10] a pattern finds files by their paths, in the order of the walk",
    async ({ open }) => {
      const files = await open();
      for (const path of ["a.ts", "b.js", "src/a.ts", "src/deep/er/c.ts", "src/deep/d.tsx", "node_modules/x/a.ts"])
        await files.writeText(path, "");
      deepStrictEqual(await files.glob("*.ts"), ["a.ts"]);
      deepStrictEqual(await files.glob("src/*"), ["src/a.ts"]);
      deepStrictEqual(await files.glob("**/*.ts", { exclude: ["node_modules"] }), [
        "a.ts",
        "src/a.ts",
        "src/deep/er/c.ts",
      ]);
      deepStrictEqual(await files.glob("src/**/{c,d}.ts*"), ["src/deep/d.tsx", "src/deep/er/c.ts"]);
      deepStrictEqual(await files.glob("[!a].?s"), ["b.js"]);
      deepStrictEqual(await files.glob("deep/**", { path: "src", exclude: ["deep/er/**"] }), ["src/deep/d.tsx"]);
      deepStrictEqual(await files.glob("none/**"), []);
      deepStrictEqual(await files.glob("*", { path: "none" }), []);
    },
  ],
  [
    "[FILE-11] a search tells the lines that match and passes over what is no text",
    async ({ open }) => {
      const files = await open();
      await files.writeText("src/a.ts", "first\r\nconst x = 1;\nlast x");
      await files.writeText("b.md", "x marks");
      await files.write("bin", Uint8Array.from([120, 0, 120]));
      await files.write("latin", Uint8Array.from([120, 0xe9]));
      deepStrictEqual(await gather(files.grep("x")), [
        { path: "b.md", line: 1, text: "x marks" },
        { path: "src/a.ts", line: 2, text: "const x = 1;" },
        { path: "src/a.ts", line: 3, text: "last x" },
      ]);
      deepStrictEqual(await gather(files.grep(/^first$/gm)), [{ path: "src/a.ts", line: 1, text: "first" }]);
      strictEqual((await gather(files.grep("x", { glob: "**/*.ts", limit: 1 }))).length, 1);
      strictEqual((await gather(files.grep(/X/, { path: "src" }))).length, 0);
    },
  ],
  [
    "[FILE-13] a file keeps its mode through writes, edits and moves, and a bad mode is refused",
    async ({ open }) => {
      const files = await open();
      const mode = async (path: string) => {
        const stat = await files.stat(path);
        return stat.kind === "file" ? stat.mode : undefined;
      };
      await files.writeText("run.sh", "echo 1");
      await files.chmod("run.sh", 0o755);
      await files.writeText("run.sh", "echo 2");
      await files.edit("run.sh", { find: "2", replace: "3" });
      strictEqual(await mode("run.sh"), 0o755);
      await files.move("run.sh", "bin/run.sh");
      strictEqual(await mode("bin/run.sh"), 0o755);
      await files.writeText("secret", "s");
      await files.chmod("secret", 0o600);
      strictEqual(await mode("secret"), 0o600);
      for (const bad of [-1, 0o1000, 0.5, Number.NaN]) await refuses("BAD_OPTION", files.chmod("secret", bad));
    },
  ],
  [
    "[FILE-14] links are followed by reading and writing, told by stat, and never lead out of the root",
    async ({ open }) => {
      const files = await open();
      await files.writeText("src/real.txt", "one");
      await files.link("to-file", "src/real.txt");
      await files.link("to-folder", "src");
      await files.link("src/back", "../to-file");
      await files.link("dangling", "src/none");
      await files.link("loop", "loop");
      deepStrictEqual(await files.stat("to-file"), { kind: "link", target: "src/real.txt" });
      strictEqual(await files.readText("src/back"), "one");
      await files.writeText("to-folder/real.txt", "two");
      strictEqual(await files.readText("src/real.txt"), "two");
      deepStrictEqual(await names(files, "to-folder"), ["back", "real.txt"]);
      deepStrictEqual([await files.exists("dangling"), await files.exists("loop")], [false, false]);
      await refuses("FILE_NOT_FOUND", files.read("dangling"));
      await refuses("FILE_BAD_PATH", files.read("loop"));
      await files.writeText("dangling", "made");
      strictEqual(await files.readText("src/none"), "made");
      await files.delete("to-folder");
      strictEqual(await files.readText("src/real.txt"), "two");
      await files.move("to-file", "moved");
      deepStrictEqual(await files.stat("moved"), { kind: "link", target: "src/real.txt" });
      await refuses("FILE_EXISTS", files.link("moved", "src"));
      for (const target of ["../x", "/etc", "src/../../x", ""])
        await refuses("FILE_BAD_PATH", files.link("out", target));
      await refuses("FILE_BAD_PATH", files.link("src/out", "../../x"));
    },
  ],
];
