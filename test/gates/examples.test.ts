import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const home = resolve(import.meta.dirname, "../..");
const examples = readdirSync(join(home, "examples")).filter((name) => name.endsWith(".ts"));

test("there are examples", () => expect(examples.length).toBeGreaterThan(1));

test.each(examples)("the example %s runs as written and its assertions hold", (name) => {
  const child = spawnSync(
    process.execPath,
    ["--no-warnings", "--import", "./scripts/self.ts", join("examples", name)],
    {
      cwd: home,
      encoding: "utf8",
    },
  );
  expect(child.stderr).toBe("");
  expect(child.status).toBe(0);
});
