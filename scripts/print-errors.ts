/** `npm run docs:errors`: prints the table of error codes to docs/errors.md, which a gate compares. */
import { mkdirSync, writeFileSync } from "node:fs";
import { ERROR_CODES } from "../src/base/error-codes.ts";
import { errorsPage } from "../test/gates/error-codes.ts";

mkdirSync(new URL("../docs", import.meta.url), { recursive: true });
writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage(ERROR_CODES));
