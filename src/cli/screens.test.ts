import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { BIN, desk, program, threeWrites } from "../../test/support/cli.ts";
import { openTerminal } from "../../test/support/terminal.ts";
import { readTree } from "../../test/gates/tree.ts";
import { loadedFrom } from "../../test/gates/vendor-free-core.ts";
import { COMMANDS } from "./table.ts";

const at = desk();

describe("every screen", () => {
  test("[CLI-12] fits 80 columns: the overview, every help, every list", async () => {
    await threeWrites(at.folder, "a-session-with-a-name-that-is-rather-long-for-a-table");
    const id = "a-session-with-a-name-that-is-rather-long-for-a-table";
    const screens = [
      ["--help"],
      ...COMMANDS.map(({ name }) => [name, "--help"]),
      ["sessions"],
      ["show", id],
      ["context", id],
      ["rewind", id, "--before", "last", "--dry-run"],
      ["gc", "--dry-run"],
    ];
    for (const argv of screens) {
      const { out } = await at.seen(80, ...argv);
      expect(out).not.toBe("");
      for (const line of out.split("\n")) expect(line.length, `${argv.join(" ")}: ${line}`).toBeLessThanOrEqual(80);
    }
  });

  test("[CLI-12] of the command itself has no colour in a pipe, and one JSON object with --json, also for a failure", async () => {
    await threeWrites(at.folder);
    for (const argv of [
      ["show", "work"],
      ["show", "nobody"],
    ]) {
      const plain = at.spawn(...argv);
      expect(plain.out + plain.err).not.toContain("\u001b");
      const { code, out } = at.spawn(...argv, "--json");
      expect(code).toBe(plain.code);
      expect(JSON.parse(out)).toMatchObject({ ok: code === 0 });
      expect(out.trim().split("\n")).toHaveLength(1);
    }
  });

  test("[CLI-33] an output that has no room ends the command with a code and a remedy, whatever it wrote", () => {
    const full = openSync("/dev/full", "w");
    for (const argv of [["--help"], ["config", "--json"]]) {
      const { status, stderr } = spawnSync(process.execPath, [BIN, ...argv], {
        encoding: "utf8",
        cwd: at.folder,
        stdio: ["ignore", full, "pipe"],
      });
      expect(status).toBe(1);
      expect(stderr).toMatch(/^OUTPUT_FAILED: .*ENOSPC.*\ntry: .*\n$/);
    }
    closeSync(full);
  });

  test("[CLI-12] takes control characters out of what a session says, so that no text moves the cursor", async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("evil");
    await session.append({ kind: "user-said", text: "\u001b[2Jgone\u0007 and \u009b31mred" });
    await session.close();
    await holdfast.close();
    for (const argv of [["sessions"], ["show", "evil"], ["show", "evil", "--full"]]) {
      const { out } = await at.run(...argv);
      expect(out).toContain("gone");
      expect(out.replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe("a list that is longer than the screen", () => {
  const show = (rows: number, env: Readonly<Record<string, string>> = {}) =>
    openTerminal([process.execPath, BIN, "show", "long"], { cwd: at.folder, rows, env });
  const talk = async () => {
    const holdfast = await program(at.folder);
    const session = await holdfast.open("long");
    for (let nth = 1; nth <= 40; nth += 1) await session.append({ kind: "user-said", text: `line ${nth} of many` });
    await session.close();
    await holdfast.close();
  };

  test("[CLI-19] is shown in the pager that the environment names, and whole where it fits or there is none", async () => {
    await talk();
    const paged = show(24, { PAGER: "sed s/^/paged:/" });
    await paged.sees("paged:");
    expect(await paged.ended).toBe(0);
    expect(paged.screen).toContain("line 40 of many");
    for (const open of [
      show(60, { PAGER: "sed s/^/paged:/" }),
      show(24, { PAGER: "cat" }),
      show(24, { PAGER: "no-such-pager" }),
    ]) {
      await open.sees("line 40 of many");
      expect(await open.ended).toBe(0);
      expect(open.screen).not.toContain("paged:");
    }
  });

  test("[CLI-19] whoever leaves the pager early has not failed", async () => {
    await talk();
    const left = show(24, { HOLDFAST_PAGER: "head -n 3", PAGER: "cat" });
    expect(await left.ended).toBe(0);
    expect(left.screen).not.toContain("line 40 of many");
  });

  test("[CLI-19] in a pipe there is no pager", async () => {
    await talk();
    at.env["PAGER"] = "sed s/^/paged:/";
    expect(at.spawn("show", "long").out).not.toContain("paged:");
  });
});

test("[CLI-14] the command starts with its table, its help and the codes of errors, and nothing else", () => {
  const tree = readTree("src");
  const start = loadedFrom("src/cli/main.ts", tree);
  expect(start.filter((path) => !/^src\/(cli|base)\//.test(path))).toEqual([]);
  expect(start.filter((path) => path.includes("/commands/"))).toEqual([]);
  expect(start).toContain("src/cli/table.ts");
});
