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

/** Our types are checked too, and a target of some years ago has what they name. */
const STRANGERS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  target: "es2022",
  lib: ["es2022", "esnext.disposable", "dom"],
  types: [],
  skipLibCheck: false,
  noEmit: true,
};
const RESOLUTIONS = [{ module: "nodenext" }, { module: "esnext", moduleResolution: "bundler" }] as const;

interface Packed {
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const MOST_BYTES = 3_000_000;

/** Small enough for anybody's image, and without what only its makers need. */
function mustBeLight(packed: Packed | undefined): void {
  if (packed === undefined) throw new Error("npm has packed nothing");
  const { unpackedSize, files } = packed;
  if (unpackedSize > MOST_BYTES) throw new Error(`${unpackedSize} bytes unpacked, at most ${MOST_BYTES}`);
  const surplus = files.filter(({ path }) => /\.map$|\.test\.|^(src|test|bench|scripts)\//.test(path));
  if (surplus.length > 0) throw new Error(`packed without need: ${surplus.map(({ path }) => path).join(", ")}`);
  console.log(`package: ${files.length} files, ${(unpackedSize / 1e6).toFixed(2)} MB unpacked`);
}

const home = resolve(import.meta.dirname, "..");
const project = mkdtempSync(join(tmpdir(), "holdfast-package-"));
const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

try {
  const said = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: home,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [packed] = JSON.parse(said.slice(said.indexOf("[\n"))) as readonly Packed[];
  mustBeLight(packed);
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
  for (const resolution of RESOLUTIONS) {
    const compilerOptions = { ...STRANGERS, ...resolution };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["use.ts"] }));
    run(process.execPath, join(home, "node_modules", "typescript", "bin", "tsc"));
  }
  run(process.execPath, "--no-warnings", "use.ts");
  const command = (...argv: readonly string[]) =>
    JSON.parse(run("npx", "--no-install", "holdfast", ...argv, "--json")) as { ok?: boolean; findings?: unknown[] };
  if (command("demo").ok !== true) throw new Error("the demo of the installed package failed");
  writeFileSync(join(project, "chat.json"), JSON.stringify([{ role: "user", content: "hello" }]));
  if (command("doctor", "chat.json", "--format", "openai-chat").findings?.length !== 0)
    throw new Error("the doctor of the installed package finds something in a sound session");
  if (command("sessions", "--store", "sessions.db").ok !== true)
    throw new Error("the installed command does not list the sessions that the installed package wrote");
  const bare = run(process.execPath, "--input-type=module", "--eval", BARE);
  if (bare.trim() !== "none") throw new Error(`importing holdfast loads ${bare}`);
  console.log(`package: ${entries.length} entries imported and type-checked, session written, command run`);
} finally {
  rmSync(project, { recursive: true, force: true });
}
