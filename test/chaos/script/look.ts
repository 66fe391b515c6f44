import { entriesOf } from "../../../src/files/sorted-map.ts";
import type { TreeFolder } from "../../../src/files/tree.ts";
import type { ModelState } from "./model.ts";

/** What a real state holds of what the scripts can change, in the model's form. */
export function lookAt(root: { get(part: string): unknown }, box: number): ModelState {
  return {
    counter: root.get("counter") as number,
    table: root.get("table") as ModelState["table"],
    steps: root.get("steps") as readonly string[],
    diary: root.get("diary") as readonly string[],
    files: Object.fromEntries(filesIn(root.get("files") as TreeFolder, "")),
    box,
  };
}

/** Equal texts, equal states; and short enough to be read when they are not. */
export function textOf({ table, files, ...rest }: ModelState): string {
  const short = Object.entries(files).map(([path, text]) => [path, text.length > 80 ? brief(text) : text]);
  return JSON.stringify({ ...rest, table: Object.entries(table).sort(byName), files: short.sort(byName) });
}

function brief(text: string): string {
  return `${text.slice(0, 30)}… ${text.length} …${text.slice(-10)}`;
}

function byName([a = ""]: readonly (string | number)[], [b = ""]: readonly (string | number)[]): number {
  return a < b ? -1 : 1;
}

function* filesIn(folder: TreeFolder, above: string): Iterable<readonly [string, string]> {
  for (const [name, node] of entriesOf(folder.children)) {
    if (node.kind === "file") yield [`${above}${name}`, Buffer.from(node.bytes ?? []).toString("utf8")];
    else if (node.kind === "folder") {
      yield [`${above}${name}/`, ""];
      yield* filesIn(node, `${above}${name}/`);
    }
  }
}
