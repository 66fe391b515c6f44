import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { buildEntries } from "./entries.ts";
import { type Build, findPackageFaults, type Lock, type Manifest } from "./package.ts";
import { readTree, ROOT } from "./tree.ts";

test("the package is light, installs anywhere and exports what it builds", () => {
  const lock = JSON.parse(readTree("package-lock.json").get("package-lock.json") ?? "") as Lock;
  const build = {
    entries: buildEntries(),
    commands: ["cli/main", "adapters/quickjs-worker", "walk-worker"], // started, as a process or a thread, and imported by nobody
    exists: (path: string) => existsSync(join(ROOT, path)),
  };
  expect(findPackageFaults(packageJson as Manifest, lock, build)).toEqual([]);
});

describe("the gate sees", () => {
  const sqlite = { types: "./dist/stores/sqlite.d.ts", default: "./dist/stores/sqlite.js" };
  const manifest: Manifest = {
    dependencies: { a: "1" },
    exports: { "./stores/sqlite": sqlite, "./package.json": "./package.json" },
  };
  const lock: Lock = {
    packages: {
      "": {},
      "node_modules/a": { optionalDependencies: { "a-linux": "1", "a-mac": "1" } },
      "node_modules/a-linux": {},
      "node_modules/a/node_modules/a-mac": {},
      "node_modules/dev": { dev: true, hasInstallScript: true },
    },
  };
  const entries = { "stores/sqlite": "src/stores/sqlite/index.ts", "cli/main": "src/cli/main.ts" };
  const build: Build = { entries, commands: ["cli/main"], exists: () => true };
  const withEntry = (path: string, entry: Lock["packages"][string]): Lock => ({
    packages: { ...lock.packages, [path]: entry },
  });

  test("nothing wrong in a sound package", () => {
    expect(findPackageFaults(manifest, lock, build)).toEqual([]);
  });

  test.each<[string, Manifest, Lock, Build, string]>([
    [
      "too many dependencies",
      { ...manifest, dependencies: { a: "1", b: "1", c: "1", d: "1", e: "1", f: "1" } },
      lock,
      build,
      "6 runtime dependencies, at most 5",
    ],
    [
      "an install script",
      manifest,
      withEntry("node_modules/b", { hasInstallScript: true }),
      build,
      "b: a runtime dependency runs an install script",
    ],
    [
      "a registry",
      manifest,
      withEntry("node_modules/b", { dev: true, resolved: "https://r.test/b.tgz" }),
      build,
      "b: the lockfile names a registry (resolved)",
    ],
    [
      "a platform left out",
      manifest,
      withEntry("node_modules/b", { dev: true, optionalDependencies: { "b-win": "1" } }),
      build,
      "b-win: missing in the lockfile; run npm run lock",
    ],
    [
      "an export nobody builds",
      manifest,
      lock,
      { ...build, entries: { "cli/main": "src/cli/main.ts" } },
      "./stores/sqlite: tsdown builds no stores/sqlite",
    ],
    [
      "a build nobody exports",
      manifest,
      lock,
      { ...build, entries: { ...entries, extra: "src/extra.ts" } },
      "tsdown builds extra, which nothing exports",
    ],
    [
      "a source that is gone",
      manifest,
      lock,
      { ...build, exists: (path) => !path.includes("sqlite") },
      "tsdown builds stores/sqlite from src/stores/sqlite/index.ts, which does not exist",
    ],
    [
      "types of another file",
      { ...manifest, exports: { "./stores/sqlite": { ...sqlite, types: "./dist/index.d.ts" } } },
      lock,
      build,
      "./stores/sqlite: types and default are of different files",
    ],
    [
      "an export without types",
      { ...manifest, exports: { ...manifest.exports, "./x": "./dist/x.js" } },
      lock,
      build,
      "./x: needs types and default",
    ],
  ])("%s", (_name, given, locked, built, fault) => {
    expect(findPackageFaults(given, locked, built)).toEqual([fault]);
  });
});
