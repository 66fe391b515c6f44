import { entryNameOf, type ExportsField } from "./entries.ts";

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports: ExportsField;
  readonly bin?: Readonly<Record<string, string>>;
}

interface LockEntry {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

export interface Build {
  /** Name of the built file → source, as tsdown has it. */
  readonly entries: Readonly<Record<string, string>>;
  /** Entries that the command loads; they are no subpath of the package. */
  readonly commands: readonly string[];
  readonly exists: (path: string) => boolean;
}

const MOST_DEPENDENCIES = 5;

/** What would make the package heavy, unsafe or impossible to install. */
export function findPackageFaults(manifest: Manifest, lock: Lock, build: Build): readonly string[] {
  return [...findDependencyFaults(manifest), ...findLockFaults(lock), ...findExportFaults(manifest, build)];
}

function findDependencyFaults(manifest: Manifest): readonly string[] {
  const names = Object.keys(manifest.dependencies ?? {});
  return names.length > MOST_DEPENDENCIES ? [`${names.length} runtime dependencies, at most ${MOST_DEPENDENCIES}`] : [];
}

function findLockFaults(lock: Lock): readonly string[] {
  const faults: string[] = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    const name = path.replace(/^.*node_modules\//, "");
    if (entry.resolved !== undefined) faults.push(`${name}: the lockfile names a registry (resolved)`);
    const shipped = path !== "" && !entry.dev && !entry.devOptional && !entry.peer;
    if (shipped && entry.hasInstallScript) faults.push(`${name}: a runtime dependency runs an install script`);
    // Without these entries `npm ci` refuses the lockfile, on every platform.
    for (const optional of Object.keys(entry.optionalDependencies ?? {})) {
      const found = [`${path}/node_modules/${optional}`, `node_modules/${optional}`].some((at) => at in lock.packages);
      if (!found) faults.push(`${optional}: missing in the lockfile; run npm run lock`);
    }
  }
  return faults;
}

function findExportFaults(manifest: Manifest, build: Build): readonly string[] {
  const faults: string[] = [];
  const exported = new Set<string>();
  for (const [subpath, target] of Object.entries(manifest.exports)) {
    if (subpath === "./package.json") continue;
    if (typeof target === "string") {
      faults.push(`${subpath}: needs types and default`);
      continue;
    }
    const name = entryNameOf(target.default);
    exported.add(name);
    if (target.types !== `./dist/${name}.d.ts`) faults.push(`${subpath}: types and default are of different files`);
    if (!(name in build.entries)) faults.push(`${subpath}: tsdown builds no ${name}`);
  }
  for (const [name, source] of Object.entries(build.entries)) {
    if (!exported.has(name) && !build.commands.includes(name))
      faults.push(`tsdown builds ${name}, which nothing exports`);
    if (!build.exists(source)) faults.push(`tsdown builds ${name} from ${source}, which does not exist`);
  }
  return faults;
}
