/** `npm run example NAME`: runs one of examples/, with the package imported by its own name. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

const home = resolve(import.meta.dirname, "..");
const names = readdirSync(join(home, "examples")).flatMap((file) => /^(.+)\.ts$/.exec(file)?.[1] ?? []);
const [name] = process.argv.slice(2);
if (name === undefined || !names.includes(name)) {
  console.error(`USAGE: npm run example NAME\ntry: one of ${names.join(", ")}`);
  process.exit(2);
}
const child = spawnSync(process.execPath, ["--import", "./scripts/self.ts", join("examples", `${name}.ts`)], {
  cwd: home,
  stdio: "inherit",
});
process.exit(child.status ?? 1);
