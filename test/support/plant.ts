/**
 * Breaks the source on its way into a process: `node --import test/support/plant.ts`, with the edits as JSON in
 * HOLDFAST_PLANT. What it replaces must stand in the file once, or the bug would silently not be there.
 */
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const edits = JSON.parse(process.env["HOLDFAST_PLANT"] ?? "[]") as readonly Edit[];
const root = fileURLToPath(new URL("../../", import.meta.url));

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    const mine = edits.filter(({ file }) => url.startsWith("file:") && fileURLToPath(url) === root + file);
    if (mine.length === 0 || loaded.source === undefined || loaded.source === null) return loaded;
    let source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
    for (const { file, find, replace } of mine) {
      if (source.split(find).length !== 2) throw new TypeError(`${file} does not have exactly once: ${find}`);
      source = source.replace(find, () => replace);
    }
    return { ...loaded, source };
  },
});
