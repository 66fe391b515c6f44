/**
 * `npm run lock`: gives every optional platform package an entry in package-lock.json. A registry that mirrors only
 * some platforms makes npm leave the others out, and then `npm ci` refuses the lockfile on every machine.
 */
import { readFileSync, writeFileSync } from "node:fs";

interface LockEntry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Platform {
  readonly cpu: readonly string[] | undefined;
  readonly os: readonly string[] | undefined;
  readonly libc: readonly string[] | undefined;
}

const path = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockEntry> };
const added: string[] = [];

for (const parent of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const at = `node_modules/${name}`;
    if (lock.packages[at] !== undefined || !/^\d/.test(version)) continue;
    const { cpu, os, libc } = platformOf(name);
    const dev = parent.dev === true ? { dev: true } : {};
    const entry = { version, ...(cpu && { cpu }), ...dev, ...(libc && { libc }), optional: true, ...(os && { os }) };
    lock.packages[at] = entry;
    added.push(name);
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added.length} platform packages added to package-lock.json`);

/** Platform packages are named after what they run on: `@biomejs/cli-linux-arm64-musl`. */
function platformOf(name: string): Platform {
  const words = name.slice(name.indexOf("/") + 1).split("-");
  const cpu = words.filter((word) => /^(arm|arm64|x64|ia32|ppc64|riscv64|s390x|wasm32)$/.test(word));
  const os = words.filter((word) => /^(android|darwin|freebsd|linux|openharmony|win32)$/.test(word));
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : undefined;
  return { cpu: cpu.length > 0 ? cpu : undefined, os: os.length > 0 ? os : undefined, libc };
}
