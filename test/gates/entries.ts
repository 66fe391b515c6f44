import packageJson from "../../package.json" with { type: "json" };
import tsdown from "../../tsdown.config.ts";
import type { Entry } from "./public-door.ts";

export type ExportsField = Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;

/** `dist/stores/sqlite.js` is built from the entry named `stores/sqlite`. */
export function entryNameOf(target: string): string {
  return target.replace(/^\.\/dist\//, "").replace(/\.js$/, "");
}

export function buildEntries(): Readonly<Record<string, string>> {
  return (tsdown as { readonly entry: Readonly<Record<string, string>> }).entry;
}

/** The subpaths of package.json with the source file each is built from. */
export function realEntries(): readonly Entry[] {
  const built = buildEntries();
  return Object.entries(packageJson.exports as ExportsField).flatMap(([subpath, target]) =>
    typeof target === "string" ? [] : [{ subpath, source: built[entryNameOf(target.default)] ?? "" }],
  );
}
