import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { eachDriver, git, portrait, withCommands } from "../support/commands.ts";

const REAL = join(dirname(fileURLToPath(import.meta.url)), "../../node_modules/pure-rand");

// An install or a build that fails leaves half of its output and a changed lockfile, and an undo that knows only the edits of
// tools leaves both.
eachDriver((driver) => {
  // A package as a registry serves it, and one of the project's own.
  const INSTALL = "npm install --offline --no-audit --no-fund --loglevel=error ./dep ./real.tgz";

  async function project() {
    const one = await withCommands(driver);
    git(one.root, "init", "-q");
    one.put("package.json", JSON.stringify({ name: "p", version: "1.0.0", private: true, type: "module" }));
    one.put("dep/package.json", JSON.stringify({ name: "dep", version: "1.0.0", type: "module", main: "index.js" }));
    one.put("dep/index.js", "export const sum = (a, b) => a + b;\n");
    one.put(
      "build.js",
      'import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("dist", { recursive: true });\nwriteFileSync("dist/out.js", "built");\n',
    );
    one.put(
      "sum.test.js",
      'import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "dep";\ntest("sum", () => assert.equal(sum(1, 2), 3));\n',
    );
    execFileSync("tar", ["-czf", one.on("real.tgz"), "--transform=s,^\\.,package,", "-C", REAL, "."]);
    git(one.root, "add", "-A");
    return one;
  }

  test("[EXEC-1] [EXEC-8] install, build, test run and commit work, and are undone exactly when something after them fails", async () => {
    const { sh, root, text, results } = await project();
    const before = portrait(root, { times: true });
    const all = `${INSTALL} && node build.js && node --test sum.test.js && git add package.json && git -c user.name=n -c user.email=e@example.org commit -qm done`;
    expect((await sh(`${all} && exit 9`)).reason).toBe("exit");
    expect([results[0]?.exitCode, portrait(root, { times: true })]).toEqual([9, before]);
    const { ok, output } = await sh(all);
    expect([ok, output]).toEqual([true, { exit: 0 }]);
    expect([text("dist/out.js"), text("node_modules/dep/index.js")]).toEqual([
      "built",
      "export const sum = (a, b) => a + b;\n",
    ]);
    expect(text("node_modules/pure-rand/package.json")).toBe(readFileSync(join(REAL, "package.json"), "utf8"));
    expect(
      (
        await sh(
          'node --test sum.test.js && git log --oneline | grep -q done && test -z "$(git status --porcelain package.json)"',
        )
      ).ok,
    ).toBe(true);
  });
});
