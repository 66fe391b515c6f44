import { existsSync, readFileSync } from "node:fs";

/** The nearest manifest above this file: the source and the built command lie at different depths. */
export function version(): string {
  let at = new URL("./package.json", import.meta.url);
  while (!existsSync(at)) at = new URL("../package.json", at);
  return (JSON.parse(readFileSync(at, "utf8")) as { readonly version: string }).version;
}
