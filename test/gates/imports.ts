import { posix } from "node:path";

export interface Import {
  readonly specifier: string;
  /** `import type` and `export type`: gone at run time. A list of inline `type` names is not: its module is loaded. */
  readonly typeOnly: boolean;
  /** `import("…")`: loaded later, or never. */
  readonly dynamic: boolean;
}

// The formatter puts every import and re-export at the start of a line, in double quotes, and ends statements with `;`.
const STATIC = /^(?:import|export)\b(\s+type\b(?!\s*(?:,|from)))?[^"'`;]*?\bfrom\s*"([^"]+)"/gm;
const BARE = /^import\s*"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"\s*\)/g;

export function importsOf(source: string): readonly Import[] {
  const found: Import[] = [];
  for (const [, typeOnly, specifier = ""] of source.matchAll(STATIC)) {
    found.push({ specifier, typeOnly: typeOnly !== undefined, dynamic: false });
  }
  for (const [, specifier = ""] of source.matchAll(BARE)) found.push({ specifier, typeOnly: false, dynamic: false });
  for (const [, specifier = ""] of source.matchAll(DYNAMIC)) found.push({ specifier, typeOnly: false, dynamic: true });
  return found;
}

export function isRelative(specifier: string): boolean {
  return specifier.startsWith("./") || specifier.startsWith("../");
}

/** The path from the root that a relative import in `path` names. */
export function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier);
}
