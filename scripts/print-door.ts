/** `npm run door`: writes the names behind every subpath to test/gates/public-door.txt, which a gate compares. */
import { writeFileSync } from "node:fs";
import { realEntries } from "../test/gates/entries.ts";
import { doorText } from "../test/gates/public-door.ts";
import { readTree } from "../test/gates/tree.ts";

writeFileSync(new URL("../test/gates/public-door.txt", import.meta.url), doorText(realEntries(), readTree("src")));
