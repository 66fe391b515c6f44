import { readdirSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mergeProcessCovs, type ProcessCov, type ScriptCov } from "@bcoe/v8-coverage";
import { convert } from "ast-v8-to-istanbul";
import { parse as parseModule } from "acorn";
import type { BranchCounts } from "./branches.ts";

/**
 * What child processes wrote about the source when they ended, put together before it is read: a thousand processes that
 * each load half of the source cost what one does.
 */
export async function childCoverage(
  folder: string,
  source: string,
): Promise<{ readonly counts: ReadonlyMap<string, BranchCounts>; readonly processes: number }> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const ours = ({ url }: ScriptCov) =>
    url.startsWith("file://") && url.endsWith(".ts") && fileURLToPath(url).startsWith(`${source}/`);
  let sum: ProcessCov = { result: [] };
  for (let at = 0; at < files.length; at += TOGETHER) {
    const some = files.slice(at, at + TOGETHER).map((name) => ({ result: scriptsIn(join(folder, name)).filter(ours) }));
    sum = mergeProcessCovs([sum, ...some]);
  }
  const counts = new Map<string, BranchCounts>();
  for (const { url, functions } of sum.result) {
    const path = fileURLToPath(url);
    const made = await convert({ ...parse(path), coverage: { url, functions: functions as never }, wrapperLength: 0 });
    for (const told of Object.values(made)) counts.set(path, told as unknown as BranchCounts);
  }
  return { counts, processes: files.length };
}

/** How many reports are held at once: each is a megabyte. */
const TOGETHER = 50;

/** A process that died while it wrote has left half a file. */
function scriptsIn(path: string): readonly ScriptCov[] {
  try {
    return (JSON.parse(readFileSync(path, "utf8")) as ProcessCov).result;
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** As Node ran it: types taken out, everything else where it stood. */
function parse(path: string): { readonly code: string; readonly ast: never } {
  const code = stripTypeScriptTypes(readFileSync(path, "utf8"));
  return { code, ast: parseModule(code, { ecmaVersion: "latest", sourceType: "module" }) as never };
}
