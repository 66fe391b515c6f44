/**
 * Packs the package, installs it into an empty project and uses it as a stranger would: every entry imported, types
 * checked, a session written and read, the command run. `npm run check:install`.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const USE = `
import { createHoldfast } from "holdfast";
import { sqlite } from "holdfast/stores/sqlite";

const holdfast = await createHoldfast({ store: sqlite("sessions.db") });
const session = await holdfast.open("first");
const { last } = await session.append({ kind: "user-said", text: "hello" });
const kinds: string[] = [];
for await (const entry of session.read()) kinds.push(entry.kind);
if (last !== 2 || kinds.join() !== "session-created,user-said") throw new Error(kinds.join());
// @ts-expect-error A record without its text does not compile.
session.append({ kind: "user-said" }).catch(() => {});
await session.close();
await holdfast.close();
`;

/** Which built-in database or package the bare import pulls in: none. */
const BARE = `
await import("holdfast");
console.log(process.moduleLoadList.some((name) => name.includes("sqlite")) ? "sqlite" : "none");
`;

const home = resolve(import.meta.dirname, "..");
const project = mkdtempSync(join(tmpdir(), "holdfast-package-"));
const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

try {
  execFileSync("npm", ["pack", "--silent", "--pack-destination", project], {
    cwd: home,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
    version: string;
    exports: Record<string, unknown>;
  };
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "stranger", private: true, type: "module" }));
  run("npm", "install", "--silent", "--no-audit", "--no-fund", `./holdfast-${manifest.version}.tgz`);

  const entries = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json");
  const imports = entries.map((entry, index) => `import * as entry${index} from "holdfast${entry.slice(1)}";`);
  const uses = entries.map(
    (_, index) => `if (Object.keys(entry${index}).length === 0) throw new Error("${entries[index]} exports nothing");`,
  );
  writeFileSync(join(project, "use.ts"), `${[...imports, "", ...uses, USE].join("\n")}\n`);
  const options = {
    strict: true,
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "dom"],
    types: [],
    skipLibCheck: false,
    noEmit: true,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["use.ts"] }));
  run(process.execPath, join(home, "node_modules", "typescript", "bin", "tsc"));
  run(process.execPath, "--no-warnings", "use.ts");
  const demo = JSON.parse(
    run(process.execPath, join("node_modules", "holdfast", "bin", "holdfast.js"), "demo", "--json"),
  ) as { ok: boolean };
  if (!demo.ok) throw new Error("the demo of the installed package failed");
  const bare = run(process.execPath, "--input-type=module", "--eval", BARE);
  if (bare.trim() !== "none") throw new Error(`importing holdfast loads ${bare}`);
  console.log(`package: ${entries.length} entries imported and type-checked, session written, command run`);
} finally {
  rmSync(project, { recursive: true, force: true });
}
