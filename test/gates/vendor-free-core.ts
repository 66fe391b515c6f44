import { importsOf, isRelative, targetOf } from "./imports.ts";
import type { Tree } from "./tree.ts";

/** Built into Node, and still a vendor. */
const VENDOR_BUILTINS = new Set(["node:sqlite"]);
const EDGE = /^src\/(stores|blobs|adapters|transcripts|telemetry|tools|cli|testing)\//;

/** Every file that is there as soon as `entry` is loaded. */
export function loadedFrom(entry: string, tree: Tree): readonly string[] {
  const seen = new Set([entry]);
  for (const path of seen)
    for (const { specifier, typeOnly, dynamic } of importsOf(tree.get(path) ?? ""))
      if (!typeOnly && !dynamic && isRelative(specifier)) seen.add(targetOf(path, specifier));
  return [...seen];
}

/** What loading `entry` drags in that a core must not: packages, drivers and the rooms at the edge. */
export function findVendors(entry: string, tree: Tree): readonly string[] {
  const faults: string[] = [];
  const seen = new Set([entry]);
  for (const path of seen) {
    for (const { specifier, typeOnly, dynamic } of importsOf(tree.get(path) ?? "")) {
      if (typeOnly || dynamic) continue;
      if (!isRelative(specifier)) {
        const foreign = !specifier.startsWith("node:") || VENDOR_BUILTINS.has(specifier);
        if (foreign) faults.push(`${path} loads ${specifier}`);
        continue;
      }
      const target = targetOf(path, specifier);
      if (EDGE.test(target)) faults.push(`${path} loads ${target}`);
      seen.add(target); // a Set is walked in order of insertion, also what is added on the way
    }
  }
  return faults;
}
