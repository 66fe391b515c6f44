import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Every file the entry loads, and every module it names that is not a file of ours. Types vanish and do not count. */
function modulesOf(entry: string): { readonly files: readonly string[]; readonly foreign: readonly string[] } {
  const files = new Set<string>();
  const foreign = new Set<string>();
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, typeOnly, name] of text.matchAll(/^(?:import|export)\s+(type\s+)?(?:[^"';]*?from\s+)?"([^"]+)"/gm)) {
      if (typeOnly !== undefined || name === undefined) continue;
      if (name.startsWith(".")) visit(resolve(dirname(file), name));
      else foreign.add(name);
    }
  };
  visit(resolve(root, entry));
  return { files: [...files].map((file) => relative(root, file)), foreign: [...foreign] };
}

test("[PAIR-28] the history entry loads no Node module and no package", () => {
  const { files, foreign } = modulesOf("history/entry.ts");
  expect(foreign).toEqual([]);
  expect(files).toContain("history/scan.ts");
  expect(files).toContain("base/fingerprint.ts");
  expect(files).not.toContain("base/hash.ts");
});

test("[PAIR-28] the tracer sees a Node module where there is one", () => {
  expect(modulesOf("base/hash.ts").foreign).toEqual(["node:crypto"]);
});

test("[PAIR-28] the entry works when it is loaded", async () => {
  const { normalize, repairMessages } = await import("./entry.ts");
  expect(normalize([]).items).toEqual([]);
  expect(repairMessages([{ role: "user", content: "hi" }], { format: "openai-chat" }).messages).toHaveLength(1);
});
