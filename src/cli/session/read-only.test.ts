import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../../../test/support/children.ts";
import { BIN, desk, program, threeWrites } from "../../../test/support/cli.ts";

const at = desk();

/** Every way to look at a session, and every plan. */
const LOOKS: readonly (readonly string[])[] = [
  ["sessions"],
  ["show", "work"],
  ["show", "--history-usage"],
  ["context", "work"],
  ["config"],
  ["verify"],
  ["rewind", "work", "--before", "last", "--dry-run"],
  ["fork", "work", "--after", "last", "--as", "new", "--dry-run"],
  ["gc", "--keep-records", "1", "--dry-run"],
  ["delete", "work", "--dry-run"],
];

function everything(): Readonly<Record<string, string>> {
  const store = join(at.folder, ".holdfast");
  return Object.fromEntries(
    readdirSync(store, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(store, name)).isFile())
      .map((name) => [name, `${statSync(join(store, name)).mtimeMs} ${readFileSync(join(store, name), "hex")}`]),
  );
}

/** A session whose writer was killed: what it acknowledged last is in the log only. */
async function cutOff(): Promise<void> {
  const child = startChild(`
    import { program, write } from "@/../test/support/cli.ts";
    const holdfast = await program(${JSON.stringify(at.folder)});
    const session = await holdfast.open("work");
    await write(session, "a.txt");
    say("written");
    await told();
  `);
  await child.said("written");
  await child.kill();
}

test("[CLI-32] looking and planning leave every byte of a closed store as it was", async () => {
  await threeWrites(at.folder);
  const before = everything();
  for (const argv of LOOKS) expect([argv, (await at.run(...argv)).code]).toEqual([argv, 0]);
  expect(await at.run("export", "work", "--out", "work.tar")).toMatchObject({ code: 0 });
  expect(everything()).toEqual(before);
});

test("[CLI-32] what a crash left is shown as it is, and stays for whoever opens it", async () => {
  await cutOff();
  const before = everything();
  expect((await at.run("sessions")).out).toContain("work");
  expect(await at.json("show", "work")).toMatchObject({ writer: "died" });
  expect(await at.run("export", "work", "--out", "work.tar")).toMatchObject({ code: 0 });
  expect(everything()).toEqual(before);
});

test("[CLI-9] after a crash the dry run names the same calls as the rewind, the one that was cut off among them", async () => {
  const child = startChild(`
    import { program, write } from "@/../test/support/cli.ts";
    import { defineTool } from "@/index.ts";
    const stuck = defineTool({ name: "stuck", access: "write", run: () => (say("stuck"), told()) });
    const holdfast = await program(${JSON.stringify(at.folder)});
    const session = await holdfast.open("work");
    await write(session, "a.txt");
    await session.catalog.add([stuck]);
    await session.runTool({ name: "stuck", input: {} });
  `);
  await child.said("stuck");
  await child.kill();
  const argv = ["rewind", "work", "--before", "last"];
  const taken = ({ out }: { readonly out: string }) => /calls taken back.*\n.*\n.*/.exec(out)?.[0];
  const planned = taken(await at.run(...argv, "--dry-run"));
  expect(planned).toMatch(/\(2\)\n.* write  success\n.* stuck  canceled$/);
  expect(taken(await at.run(...argv))).toBe(planned);
});

test("[CLI-32] a store in a folder that cannot be written is shown, planned with and exported all the same", async () => {
  await threeWrites(at.folder);
  const store = join(at.folder, ".holdfast");
  execFileSync("chmod", ["-R", "a-w,a+rX", store]);
  chmodSync(at.folder, 0o777);
  try {
    // Whoever is root may write everywhere, so the command becomes somebody who may not.
    const as = `process.setgroups?.([]); process.setgid?.(65534); process.setuid?.(65534);`;
    const code = `${process.getuid?.() === 0 ? as : ""} process.argv.splice(1, 0, ${JSON.stringify(BIN)}); await import(${JSON.stringify(BIN)});`;
    for (const argv of [...LOOKS, ["export", "work", "--out", "work.tar"]]) {
      const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code, "--", ...argv], {
        cwd: at.folder,
        encoding: "utf8",
        // Whoever may write nowhere can count no branches either.
        env: { PATH: process.env["PATH"], HOME: join(at.folder, "home"), NODE_V8_COVERAGE: "" },
      });
      expect([argv, status, stderr]).toEqual([argv, 0, ""]);
    }
  } finally {
    execFileSync("chmod", ["-R", "u+w", store]);
  }
});

test("[CLI-32] beside a program that writes, and one that begins to, everything acknowledged is shown", async () => {
  await threeWrites(at.folder);
  const holdfast = await program(at.folder);
  const session = await holdfast.open("work");
  try {
    await session.append({ kind: "user-said", text: "And one more thing." });
    expect((await at.run("show", "work")).out).toContain("And one more thing.");
    expect(await at.json("sessions")).toMatchObject({ sessions: [{ id: "work", writer: "held" }] });
  } finally {
    await session.close();
    await holdfast.close();
  }
});
