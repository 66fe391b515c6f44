import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Rule } from "../../index.ts";

export const SESSION = "tidy-cart";

/** The project, as the agent finds it. */
const FILES: Readonly<Record<string, string>> = {
  "src/cart.ts": "export function total(prices: number[]) {\n  return prices.reduce((a, b) => a + b, 0);\n}\n",
  "src/report.ts": 'import { total } from "./cart.ts";\nexport const line = (p: number[]) => `total ${total(p)}`;\n',
  "src/cart.test.ts": 'import { total } from "./cart.ts";\nexpect(total([1, 2])).toBe(3);\n',
  "notes.md": "- ask Ada about the prices\n",
};

/** What holds in every request, however small it has to be. */
export const RULES: readonly Rule[] = [
  "Never push to main.",
  "Prices are whole cents; a fraction is a bug.",
  "Do not touch anything under legal/.",
  "Every change of a price needs a test.",
].map((text, at) => ({ id: `R${at + 1}`, text, scope: "project", source: "AGENTS.md" }));

export const DOCUMENTS: readonly string[] = Array.from(
  { length: 24 },
  (_, at) => `docs/order-${String(at + 1).padStart(2, "0")}.md`,
);

/** Much to read, and each of them different. */
export function documentText(path: string): string {
  const order = Number(/\d+/.exec(path)?.[0] ?? 0);
  const line = (at: number) =>
    `order ${order}, position ${at}: article ${(at + order) * 7919}, ${at + 1} pieces, ${at * 25} cents`;
  return `${Array.from({ length: 40 }, (_, at) => line(at)).join("\n")}\n`;
}

export function layOut(workspace: string): void {
  const documents = DOCUMENTS.map((path) => [path, documentText(path)] as const);
  for (const [path, text] of [...Object.entries(FILES), ...documents]) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), text);
  }
}

export function textIn(workspace: string, path: string): string {
  return readFileSync(join(workspace, path), "utf8");
}

/** Every file of the folder with its content, the kernel's own folder apart. Two of them are equal or something changed. */
export function pictureOf(workspace: string): string {
  const names = readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1))
    .filter((name) => !name.startsWith(".holdfast"));
  return JSON.stringify(names.toSorted().map((name) => [name, textIn(workspace, name)]));
}
