import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { counter, diary, steps } from "../../../test/support/calls.ts";
import { desk, program, threeWrites, TOOLS } from "../../../test/support/cli.ts";
import { createHoldfast } from "../../index.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";

const at = desk();

describe("holdfast export, import and verify of a file", () => {
  test("[BUNDLE-6] writes one new file for its owner only, which verify proves and import takes in", async () => {
    await threeWrites(at.folder);
    const exported = await at.json<{ file: string; bytes: number }>("export", "work");
    const file = join(at.folder, "work.bundle.tar");
    expect(exported).toMatchObject({ ok: true, session: "work", file, bytes: statSync(file).size });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file).includes("text of a.txt")).toBe(true); // an argument of the call, and no file
    expect(await at.run("verify", "work.bundle.tar")).toMatchObject({ code: 0, out: expect.stringContaining("ok: ") });
    expect(await at.run("import", "work.bundle.tar", "--as", "theirs")).toMatchObject({ code: 0 });
    expect((await at.run("show", "theirs")).out).toContain("Write three files, please.");
    expect(readdirSync(at.folder).filter((name) => name.includes(".part"))).toEqual([]);
  });

  test("[BUNDLE-6] whoever has no store yet gets one with the session, and a dry run makes none", async () => {
    await threeWrites(at.folder);
    await at.run("export", "work");
    const fresh = ["--store", "fresh/theirs.db"];
    mkdirSync(join(at.folder, "fresh"));
    expect(await at.run("import", "work.bundle.tar", "--dry-run", ...fresh)).toMatchObject({
      code: 0,
      out: expect.stringContaining("would import"),
    });
    expect(await at.run("import", "work.bundle.tar", "--dry-run", "--as", "q q")).toMatchObject({ code: 2 });
    expect(readdirSync(join(at.folder, "fresh"))).toEqual([]);
    expect(await at.run("import", "work.bundle.tar", "--as", "theirs", ...fresh)).toMatchObject({ code: 0 });
    expect((await at.run("show", "theirs", ...fresh)).out).toContain("Write three files, please.");
  });

  test("[BUNDLE-6] what cannot be imported makes no store", async () => {
    await threeWrites(at.folder);
    await at.run("export", "work");
    const fresh = ["--store", "fresh/theirs.db"];
    mkdirSync(join(at.folder, "fresh"));
    writeFileSync(join(at.folder, "junk.tar"), "junk");
    const altered = readFileSync(join(at.folder, "work.bundle.tar"));
    altered.write("WRITE", altered.indexOf("Write three"));
    writeFileSync(join(at.folder, "altered.tar"), altered);
    expect(await at.run("import", "gone.tar", ...fresh)).toMatchObject({ code: 2 });
    expect(await at.run("import", "junk.tar", ...fresh)).toMatchObject({ code: 1 });
    expect(await at.run("import", "altered.tar", ...fresh)).toMatchObject({
      code: 1,
      err: expect.stringContaining("BUNDLE_DAMAGED"),
    });
    expect(await at.run("import", "work.bundle.tar", "--as", "q q", ...fresh)).toMatchObject({ code: 2 });
    expect(readdirSync(join(at.folder, "fresh"))).toEqual([]);
  });

  test("[BUNDLE-6] never replaces a file, and leaves none when there is nothing to export", async () => {
    await threeWrites(at.folder);
    writeFileSync(join(at.folder, "mine.tar"), "mine");
    expect(await at.run("export", "work", "--out", "mine.tar")).toMatchObject({
      code: 2,
      err: expect.stringContaining("it already exists; name another file with --out"),
    });
    expect(readFileSync(join(at.folder, "mine.tar"), "utf8")).toBe("mine");
    expect(await at.run("export", "wrok")).toMatchObject({ code: 3, err: expect.stringContaining("work") });
    expect(existsSync(join(at.folder, "wrok.bundle.tar"))).toBe(false);
    expect(await at.run("export", "work", "--hide", "NOT_THERE")).toMatchObject({ code: 2 });
  });

  test("[BUNDLE-6] tells what is wrong with a file, and takes nothing from it", async () => {
    await threeWrites(at.folder);
    await at.run("export", "work");
    const file = join(at.folder, "work.bundle.tar");
    const bytes = readFileSync(file);
    bytes.write("WRITE", bytes.indexOf("Write three"));
    writeFileSync(file, bytes);
    const judged = await at.run("verify", file);
    expect(judged).toMatchObject({ code: 1, out: expect.stringContaining("body-altered") });
    expect(await at.run("import", file, "--as", "x")).toMatchObject({ code: 1 });
    expect(await at.run("import", "gone.tar")).toMatchObject({ code: 2 });
    writeFileSync(file, "no bundle");
    expect(await at.run("verify", file)).toMatchObject({ code: 1, err: expect.stringContaining("BUNDLE_DAMAGED") });
  });

  test("[BUNDLE-4] one whose files stayed behind is shown and deleted where it is, also when its state did", async () => {
    const late = "late-canary-nobody-knew-of";
    const store = sqlite(join(at.folder, "theirs.db"), { durability: "process" });
    const holdfast = await createHoldfast({ store, tools: TOOLS, slices: [steps, counter, diary] });
    const session = await holdfast.open("theirs");
    await session.append({ kind: "user-said", text: "Write a file, please." });
    await session.runTool({ name: "write", input: { path: "a.txt", text: "text of a file" } });
    await session.files.writeText("late.txt", late);
    await session.checkpoint();
    await session.close();
    await at.run("export", "theirs", "--store", "theirs.db", "--out", "files.tar");
    const again = await holdfast.open("theirs");
    await again.state.session.dispatch(steps.added(late));
    await again.checkpoint();
    await again.append({ kind: "user-said", text: "And on, please." });
    await holdfast.retain(again, { records: 3 });
    await again.close();
    await holdfast.close();
    at.env["SECRET"] = late;
    await at.run("export", "theirs", "--store", "theirs.db", "--hide", "SECRET", "--out", "state.tar");
    for (const [file, says, code] of [
      ["files.tar", "Write a file, please.", "BLOB_MISSING"],
      ["state.tar", "And on, please.", "SESSION_DAMAGED"],
    ] as const) {
      expect(await at.run("import", file, "--as", "here")).toMatchObject({ code: 0 });
      expect(await at.run("show", "here")).toMatchObject({ code: 0, out: expect.stringContaining(says) });
      const kernel = await program(at.folder);
      await expect(kernel.open("here")).rejects.toMatchObject({ code });
      await kernel.close();
      expect(await at.run("delete", "here", "--dry-run")).toMatchObject({ code: 0 });
      expect(await at.run("delete", "here", "--yes")).toMatchObject({ code: 0 });
    }
  });

  test("[BUNDLE-3] hides what the environment says is secret, in an error too", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("work");
    await session.append({ kind: "user-said", text: "my word is open-sesame-please" });
    await session.close();
    await holdfast.close();
    at.env["PASSWORD"] = "open-sesame-please";
    await at.run("export", "work", "--hide", "PASSWORD");
    expect(readFileSync(join(at.folder, "work.bundle.tar")).includes("open-sesame-please")).toBe(false);
    const refused = await at.run("show", `ghp_${"a7Z9".repeat(9)}`);
    expect(refused.err).not.toContain("a7Z9a7Z9");
  });
});
