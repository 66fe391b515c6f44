import { isTest, type Tree } from "./tree.ts";

export type CodeTable = Readonly<Record<string, { readonly says: string; readonly tryThis: string }>>;

const TABLE = "src/base/error-codes.ts";
/** Tests the error class with any codes at hand: a sample there proves nothing about the code. */
const SAMPLES = "src/base/errors.test.ts";

/** Every code without remedy, use or test, and every excuse in `arriving` that is no longer needed. */
export function findCodeFaults(codes: CodeTable, arriving: readonly string[], tree: Tree): readonly string[] {
  const faults: string[] = [];
  for (const [code, { says, tryThis }] of Object.entries(codes)) {
    if (!/^[A-Z]+(_[A-Z]+)+$/.test(code)) faults.push(`${code}: a code is written LIKE_THIS`);
    if (!isSentence(says)) faults.push(`${code}: says is no full sentence`);
    if (!isSentence(tryThis)) faults.push(`${code}: tryThis is no full sentence`);
    const missing = [
      isUsed(code, tree) ? [] : ["never used in src"],
      isTested(code, tree) ? [] : ["in no test"],
    ].flat();
    const excused = arriving.includes(code);
    if (missing.length > 0 && !excused) faults.push(`${code}: ${missing.join(", ")}`);
    if (missing.length === 0 && excused) faults.push(`${code}: has arrived; remove it from ARRIVING`);
  }
  for (const code of arriving) if (!(code in codes)) faults.push(`${code}: in ARRIVING, but not a code`);
  return faults;
}

/** docs/errors.md, printed from the table. */
export function errorsPage(codes: CodeTable): string {
  const rows = Object.entries(codes).map(
    ([code, { says, tryThis }]) => `| \`${code}\` | ${cell(says)} | ${cell(tryThis)} |`,
  );
  return [
    "# Errors",
    "",
    "Every error is a `HoldfastError` with a stable `code`, a message, a remedy in `tryThis` and `details` as data.",
    "`HoldfastError.is(error, code)` recognises one, also from another copy of the package.",
    "",
    "This page is printed from the table of codes by `npm run docs:errors`; a test fails when it is out of date.",
    "",
    "| Code | What happened | What to do |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function isUsed(code: string, tree: Tree): boolean {
  return some(tree, (path) => path.startsWith("src/") && path !== TABLE && !isTest(path), code);
}

function isTested(code: string, tree: Tree): boolean {
  const counts = (path: string) => isTest(path) || path.startsWith("test/") || path.startsWith("src/testing/");
  return some(tree, (path) => counts(path) && path !== SAMPLES && !path.startsWith("test/gates/"), code);
}

function some(tree: Tree, where: (path: string) => boolean, code: string): boolean {
  const whole = new RegExp(`\\b${code}\\b`);
  for (const [path, source] of tree) if (where(path) && whole.test(source)) return true;
  return false;
}

function isSentence(text: string): boolean {
  return /^["`A-Z].*\.$/s.test(text);
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
