/**
 * Lets a checkout import itself by its own name, as users do, without a build: `node --import ./scripts/self.ts FILE`.
 * The entries are those the package is built from.
 */
import { registerHooks } from "node:module";
import config from "../tsdown.config.ts";

const entries = (config as { readonly entry: Readonly<Record<string, string>> }).entry;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== "holdfast" && !specifier.startsWith("holdfast/")) return next(specifier, context);
    const name = specifier === "holdfast" ? "index" : specifier.slice("holdfast/".length);
    const source = entries[name];
    if (source === undefined) throw new Error(`${specifier} is not an entry of the package`);
    return next(new URL(`../${source}`, import.meta.url).href, context);
  },
});
