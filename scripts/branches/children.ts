import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convert } from "ast-v8-to-istanbul";
import { parse as parseModule } from "acorn";
import type { BranchCounts } from "./branches.ts";

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly object[];
    readonly isBlockCoverage: boolean;
  }[];
}

/** What child processes wrote about the source when they ended. Those that took the same ways are counted once. */
export async function childCoverage(
  folder: string,
  source: string,
): Promise<{ readonly counts: ReadonlyMap<string, readonly BranchCounts[]>; readonly processes: number }> {
  const counts = new Map<string, BranchCounts[]>();
  const seen = new Set<string>();
  const parsed = new Map<string, { readonly code: string; readonly ast: unknown }>();
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  for (const name of files) {
    for (const { url, functions } of scriptsIn(join(folder, name))) {
      if (!url.startsWith("file://") || !fileURLToPath(url).startsWith(`${source}/`) || !url.endsWith(".ts")) continue;
      const way = `${url} ${createHash("sha256").update(JSON.stringify(functions)).digest("hex")}`;
      if (seen.has(way)) continue;
      seen.add(way);
      const path = fileURLToPath(url);
      if (!parsed.has(path)) parsed.set(path, parse(path));
      const { code = "", ast } = parsed.get(path) ?? {};
      const made = await convert({
        code,
        ast: ast as never,
        coverage: { url, functions: functions as never },
        wrapperLength: 0,
      });
      const told = Object.values(made)[0] as unknown as BranchCounts | undefined;
      if (told !== undefined) counts.set(path, [...(counts.get(path) ?? []), told]);
    }
  }
  return { counts, processes: files.length };
}

/** A process that died while it wrote has left half a file. */
function scriptsIn(path: string): readonly ScriptCoverage[] {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as { readonly result: readonly ScriptCoverage[] }).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** As Node ran it: types taken out, everything else where it stood. */
function parse(path: string): { readonly code: string; readonly ast: unknown } {
  const code = stripTypeScriptTypes(readFileSync(path, "utf8"));
  return { code, ast: parseModule(code, { ecmaVersion: "latest", sourceType: "module" }) };
}
