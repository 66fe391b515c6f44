import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { desk, project, threeWrites } from "../../../test/support/cli.ts";
import { CONTEXT_DEFAULTS, contextConfig } from "../../index.ts";
import { KEYS } from "./settings.ts";
import { SILENT } from "../silent.ts";

const at = desk();

function user(text: string): void {
  const file = join(at.folder, "home", ".config", "holdfast", "holdfast.toml");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

interface Told {
  readonly settings: Readonly<
    Record<string, { readonly value: unknown; readonly from: string; readonly place: string }>
  >;
  readonly storeDurability: string | null;
}

describe("holdfast.toml", () => {
  test("[CONFIG-1] a flag counts more than the environment, that more than the project, that more than the user", async () => {
    const store = async (...argv: string[]) => (await at.json<Told>("config", ...argv)).settings["store"];
    expect(await store()).toEqual({ value: join(at.folder, ".holdfast/sessions.db"), from: "default", place: "" });
    user('store = "user.db"\n[retention]\nage = "7d"');
    expect(await store()).toMatchObject({ from: "user", value: join(at.folder, "home/.config/holdfast/user.db") });
    project(at.folder, 'store = "project.db"');
    expect(await store()).toMatchObject({ from: "project", value: join(at.folder, "project.db") });
    at.env["HOLDFAST_STORE"] = "env.db";
    expect(await store()).toMatchObject({ from: "environment", place: "HOLDFAST_STORE" });
    expect(await store("--store", "flag.db")).toMatchObject({ from: "flag", place: "--store" });
    const { settings } = await at.json<Told>("config");
    expect(settings["retention.age"]).toMatchObject({ from: "user", value: 604_800_000 });
  });

  test("[CONFIG-1] a project's file counts in every folder of the project, and its paths are its own", async () => {
    await threeWrites(at.folder);
    project(at.folder, 'store = ".holdfast/sessions.db"\nworkspace = "."');
    mkdirSync(join(at.folder, "src", "deep"), { recursive: true });
    const { main } = await import("../main.ts");
    const out: string[] = [];
    const cwd = join(at.folder, "src", "deep");
    await main(["sessions", "--json"], { ...SILENT, out: (line) => out.push(line), cwd });
    expect(JSON.parse(out.join(""))).toMatchObject({ sessions: [{ id: "work" }] });
  });

  test("[CONFIG-2] an unknown key names the nearest, a wrong value what it wants, a broken line its place; nothing runs", async () => {
    const cases = [
      ["[context]\nenforce_history_invariant = true", "did you mean context.enforce_history_invariants?"],
      ['stroe = "x"', "did you mean store?"],
      ["[context]\nauto_recover_from_crash = 1", "wants true or false"],
      ['[retention]\nage = "soon"', "wants a time such as"],
      ["[retention]\nrecords = -1", "wants a whole number"],
      ["[retention]\nrecords = 99999999999999999999", "holdfast.toml"],
      ['durability = "hope"', "wants power or process (got: hope,"],
      ['store = ""', "wants a path"],
      ["store = ", "line 1"],
      ["[store]\nx = 1", "there is no such key"],
    ] as const;
    for (const [text, says] of cases) {
      project(at.folder, text);
      for (const command of [["config"], ["sessions"]]) {
        const { code, err } = await at.run(...command);
        expect({ text, code }).toEqual({ text, code: 2 });
        expect(err).toMatch(/^BAD_OPTION: .*\ntry: /);
        expect(err).toContain(says);
      }
    }
    project(at.folder, "");
    at.env["HOLDFAST_RETENTION_RECORDS"] = "many";
    expect(await at.run("config")).toMatchObject({
      code: 2,
      err: expect.stringContaining("HOLDFAST_RETENTION_RECORDS") as string,
    });
  });

  test("[CONFIG-2] whatever stands in the file, the command answers with what it read or a typed refusal", () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.stringMatching(/^[a-z.[\]="\n ]{0,40}$/)), async (text) => {
        project(at.folder, text);
        const { code, err } = await at.run("config");
        expect(code === 0 ? "" : err.split(":")[0]).toBe(code === 0 ? "" : "BAD_OPTION");
      }),
      { numRuns: 60 },
    ));

  test("[CONFIG-3] config shows every value, where it comes from and the store's durability class, within 80 columns", async () => {
    project(at.folder, "[context]\nwarn_on_invariant_violations = false");
    const { out } = await at.seen(80, "config");
    for (const key of KEYS) expect(out).toContain(key);
    expect(out).toMatch(/context\.warn_on_invariant_violations +false/);
    expect(out).toContain("it does not exist yet");
    for (const line of out.split("\n").filter((line) => !line.includes("/")))
      expect(line.length).toBeLessThanOrEqual(80);
    await threeWrites(at.folder);
    expect(await at.json<Told>("config")).toMatchObject({ storeDurability: "process" });
    const { exec } = await at.json<{ exec: { driver: string; why: string } }>("config");
    expect(["overlay", "portable"]).toContain(exec.driver);
    at.env["HOLDFAST_EXEC_DRIVER"] = "portable";
    expect((await at.run("config")).out).toContain("commands: portable, it was asked for");
    expect(await at.run("config", "context.warn_on_invariant_violations")).toMatchObject({ code: 0, out: "false" });
    expect(await at.run("config", "contxt.enforce_history_invariants")).toMatchObject({ code: 2 });
  });

  test("[CONFIG-4] the [context] table has the seed's keys, and the defaults that the kernel has", async () => {
    const { settings } = await at.json<Told>("config");
    const table = Object.entries(settings).flatMap(([key, { value }]) =>
      key.startsWith("context.") ? [[key.slice(8), value]] : [],
    );
    expect(contextConfig(Object.fromEntries(table) as Record<string, unknown>)).toEqual(CONTEXT_DEFAULTS);
    expect(table).toHaveLength(3);
  });
});
