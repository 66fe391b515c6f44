import { targetOf } from "./imports.ts";
import type { Tree } from "./tree.ts";

/** One subpath of the package: what users write, and the file it enters by. */
export interface Entry {
  readonly subpath: string;
  readonly source: string;
}

export interface DoorName {
  readonly name: string;
  readonly kind: "value" | "type";
}

const LIST = /^export (type )?\{([^}]*)\}/gm;
const DECLARED =
  /^export (?:declare )?(?:(async function|function|const|class|abstract class)|(interface|type)) (\w+)/gm;
const STAR = /^export \*/m;

/** The names an entry exports, read from its text. `export *` is refused: a door has explicit names. */
export function doorNames(source: string): readonly DoorName[] {
  if (STAR.test(source)) throw new Error("an entry exports explicit names, not `export *`");
  const names: DoorName[] = [];
  for (const [, allTypes, list = ""] of source.matchAll(LIST)) {
    for (const item of list
      .split(",")
      .map((text) => text.trim())
      .filter((text) => text !== "")) {
      const isType = allTypes !== undefined || item.startsWith("type ");
      const name = item.replace(/^type /, "").replace(/^.* as /, "");
      names.push({ name, kind: isType ? "type" : "value" });
    }
  }
  for (const [, value, , name = ""] of source.matchAll(DECLARED)) {
    names.push({ name, kind: value === undefined ? "type" : "value" });
  }
  return names.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The readable list that is kept in public-door.txt: a change of the door shows in the diff of this file. */
export function doorText(entries: readonly Entry[], tree: Tree): string {
  const blocks = entries.map(({ subpath, source }) => {
    const names = doorNames(tree.get(source) ?? "").map(
      ({ name, kind }) => `  ${kind === "type" ? "type " : ""}${name}`,
    );
    return [targetOf("holdfast/package.json", subpath), ...names].join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}
