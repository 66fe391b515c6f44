import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const BENCH = new URL("../", import.meta.url);
const LOCK = new URL("package-lock.json", BENCH);
/** npm writes it last, so it also tells that an installation was finished. */
const INSTALLED = new URL("node_modules/.package-lock.json", BENCH);

/** A rival by the shape we use of it. The root never resolves its name, so it type-checks without the peers installed. */
export async function peer<Shape>(name: string): Promise<Shape> {
  return (await import(name)) as Shape;
}

/** Installs the peers into bench/node_modules on first use and after a change. The product's own tree is not touched. */
export function ensurePeers(say: (line: string) => void): void {
  if (existsSync(INSTALLED) && statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs) return;
  say("installing the peers into bench/node_modules (first use, about half a minute)");
  const folder = fileURLToPath(BENCH);
  const npm = spawnSync("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (npm.status !== 0) throw new Error("npm ci in bench/ failed; its output is above");
}

/** The exact versions that were measured against. */
export function peerVersions(): Readonly<Record<string, string>> {
  const manifest = JSON.parse(readFileSync(new URL("package.json", BENCH), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return manifest.dependencies;
}
