import { lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { desk } from "../../../test/support/cli.ts";
import { type ProviderServer, startProviderServer } from "../../testing/entry.ts";
import { makeRoom } from "./capture.ts";

const at = desk();
let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const folder = () => join(at.folder, "bundles");
const FAILS = [{ text: "Let me ask.", calls: [{ name: "ask_user", input: { question: "Which?" } }] }];
const DONE = [{ text: "Done." }];

async function work(script: typeof FAILS | typeof DONE, session: string) {
  server = await startProviderServer({ script, compatible: true });
  const told = await at.run("run", "work", "--model", `${server.url}/v1#model`, "--session", session);
  await server.close();
  server = undefined;
  return told;
}

describe("work that is over", () => {
  test("[BUNDLE-7] [K62] is captured when it failed, as a bundle that proves itself, for its owner only", async () => {
    at.env["HOLDFAST_CAPTURE_FOLDER"] = folder();
    expect(await work(DONE, "good")).toMatchObject({ code: 0 });
    const { code, err } = await work(FAILS, "bad");
    expect([code, readdirSync(folder()).length]).toEqual([1, 1]);
    const [name = ""] = readdirSync(folder());
    expect(name).toMatch(/^bad\..*\.bundle\.tar$/);
    expect(err).toContain("captured: ");
    expect(statSync(join(folder(), name)).mode & 0o777).toBe(0o600);
    expect(await at.run("verify", join(folder(), name))).toMatchObject({ code: 0 });
  });

  test("[BUNDLE-7] is captured always where that is wanted, and the newest stay", async () => {
    at.env["HOLDFAST_CAPTURE_FOLDER"] = folder();
    at.env["HOLDFAST_CAPTURE_WHEN"] = "always";
    at.env["HOLDFAST_CAPTURE_KEEP"] = "2";
    for (const session of ["a", "b", "c"]) expect(await work(DONE, session)).toMatchObject({ code: 0 });
    expect(readdirSync(folder()).map((name) => name[0])).toEqual(["b", "c"]);
  });

  test("[BUNDLE-7] [K62] ends as it ended when it cannot be captured, and that is said", async () => {
    writeFileSync(folder(), "a file where a folder should be");
    at.env["HOLDFAST_CAPTURE_FOLDER"] = folder();
    at.env["HOLDFAST_CAPTURE_WHEN"] = "always";
    const { code, err } = await work(DONE, "good");
    expect(code).toBe(0);
    expect(err).toContain("not captured: ");
  });
});

test("[BUNDLE-7] [K62] room is made oldest first; links, other files and what changed meanwhile are left alone", () => {
  mkdirSync(folder());
  const path = (name: string) => join(folder(), name);
  const made = ["1", "2", "3", "4", "5"].map((name) => `${name}.bundle.tar`);
  for (const [nth, name] of made.entries()) {
    writeFileSync(path(name), name);
    utimesSync(path(name), 1_000 + nth, 1_000 + nth);
  }
  writeFileSync(path("notes.txt"), "mine");
  symlinkSync(path("notes.txt"), path("0.bundle.tar"));
  makeRoom(folder(), 2, (removing) => {
    if (removing === path("2.bundle.tar")) writeFileSync(removing, "somebody is writing it");
  });
  expect(readdirSync(folder()).toSorted()).toEqual([
    "0.bundle.tar",
    "2.bundle.tar",
    "4.bundle.tar",
    "5.bundle.tar",
    "notes.txt",
  ]);
  expect(lstatSync(path("0.bundle.tar")).isSymbolicLink()).toBe(true);
});
