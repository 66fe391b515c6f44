/** `node --import ./scripts/self.ts test/snippets/run.ts PAGE`: executes every `ts` block of a document as it is written. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { blocksIn } from "./blocks.ts";
import { blocks } from "./vendors.ts";

const [page = ""] = process.argv.slice(2);
const text = readFileSync(resolve(page), "utf8");
const { setUp } = await import("./ambient.ts");
let ran = 0;
for (const { line, language, code } of blocksIn(text)) {
  if (language !== "ts") continue;
  const leave = await setUp();
  const address = `block:${page}:${line}`;
  blocks.set(address, code);
  try {
    await import(address);
  } catch (error) {
    console.error(`${page}, line ${line}:`, error);
    process.exit(1);
  }
  await leave();
  ran += 1;
}
console.log(`${ran} ran`);
process.exit(0); // what a block has left open is the reader's
