/**
 * `npm run docs:api`: prints the API reference into docs/api/site, from the types and comments of every public entry. The
 * printer has a manifest of its own (docs/api) and is installed there when it is missing.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import config from "../tsdown.config.ts";

const home = resolve(import.meta.dirname, "..");
const api = join(home, "docs", "api");
const NOT_PUBLIC = new Set(["cli/main", "adapters/quickjs-worker"]);

function run(command: string, args: readonly string[], cwd: string): void {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(api, "node_modules", "typedoc"))) run("npm", ["ci", "--no-audit", "--no-fund", "--silent"], api);
const entries = Object.entries((config as { readonly entry: Readonly<Record<string, string>> }).entry)
  .filter(([name]) => !NOT_PUBLIC.has(name))
  .flatMap(([, source]) => ["--entryPoints", source]);
const options = ["--out", "docs/api/site", "--name", "holdfast", "--readme", "none", "--tsconfig", "tsconfig.json"];
const strict = ["--skipErrorChecking", "--excludeInternal", "--excludePrivate", "--validation.notExported", "false"];
run(process.execPath, [join(api, "node_modules/typedoc/bin/typedoc"), ...entries, ...options, ...strict], home);
