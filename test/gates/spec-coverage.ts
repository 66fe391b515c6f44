import { isTest, type Tree } from "./tree.ts";

export interface Rule {
  readonly id: string;
  readonly family: string;
  readonly sentence: string;
}

const FAMILY = /^## ([A-Z]+)\b/gm;
const RULE = /^- \*\*(.*?)\*\* (.*)$/gm;
const ID = /^([A-Z]+)-([1-9]\d*)$/;
/** Ids open a title: `"[TX-2] …"`, `"[TX-2] [K07] …"`. */
const WORN = /["'`]((?:\[[A-Z]+-?\d+\] ?)+)/g;
const SKIPPED = /\.(?:skip|todo|fails)(?:\.\w+)*\($/;
/** A test, or a block of tests, that runs only where something is there. */
const CONDITIONAL = /^( *)(?:test|describe)\.(?:skipIf|runIf)\(/;

export function rulesOf(spec: string): readonly Rule[] {
  return [...spec.matchAll(RULE)].map(([, id = "", sentence = ""]) => ({
    id,
    family: id.split("-")[0] ?? "",
    sentence,
  }));
}

/** Ids in the titles of tests and of the laws in src/testing, → the files that wear them. A skipped test wears nothing. */
export function wornIds(tree: Tree): ReadonlyMap<string, readonly string[]> {
  const worn = new Map<string, string[]>();
  for (const [path, source] of tree) {
    if (!canWear(path)) continue;
    for (const match of source.matchAll(WORN)) {
      if (SKIPPED.test(source.slice(0, match.index).trimEnd())) continue;
      for (const [, id = ""] of (match[1] ?? "").matchAll(/\[(.+?)\]/g)) worn.set(id, [...(worn.get(id) ?? []), path]);
    }
  }
  return worn;
}

/** Rules whose every test may be skipped, → the files that wear them: on some machine nothing proves them. */
export function conditionalIds(tree: Tree): ReadonlyMap<string, readonly string[]> {
  const always = wornIds(new Map([...tree].map(([path, source]) => [path, withoutConditional(source)])));
  return new Map([...wornIds(tree)].filter(([id]) => !always.has(id)));
}

/** The formatter closes what it opened at the same indentation. */
function withoutConditional(source: string): string {
  const kept: string[] = [];
  let until: string | undefined;
  for (const line of source.split("\n")) {
    if (until !== undefined) {
      if (line.startsWith(until)) until = undefined;
      continue;
    }
    const indent = CONDITIONAL.exec(line)?.[1];
    if (indent === undefined) kept.push(line);
    else if (!line.endsWith(");")) until = `${indent})`.replace(/\)$/, line.endsWith("{") ? "}" : ")");
  }
  return kept.join("\n");
}

/** Every rule without a test, every worn id without a rule, and everything malformed in the specification itself. */
export function findSpecFaults(
  spec: string,
  tree: Tree,
  excused: Readonly<Record<string, string>> = {},
): readonly string[] {
  const families = new Set([...spec.matchAll(FAMILY)].map(([, family]) => family ?? ""));
  const rules = rulesOf(spec);
  const worn = wornIds(tree);
  const known = new Set(rules.map(({ id }) => id));
  const faults = rules.flatMap((rule, index) => findRuleFaults(rule, rules.slice(0, index), families));
  for (const { id } of rules) if (!worn.has(id)) faults.push(`${id}: no test wears it`);
  const conditional = conditionalIds(tree);
  for (const { id } of rules)
    if (conditional.has(id) && excused[id] === undefined)
      faults.push(`${id}: only tests wear it that may be skipped (${conditional.get(id)?.[0]})`);
  for (const id of Object.keys(excused))
    if (!conditional.has(id)) faults.push(`${id}: is excused, and need not be: a test always wears it`);
  for (const [id, paths] of worn) {
    const family = id.split("-")[0] ?? "";
    if (id.includes("-") && families.has(family) && !known.has(id))
      faults.push(`${id}: worn in ${paths[0]}, not in SPEC.md`);
    else if (id.includes("-") && !families.has(family))
      faults.push(`${id}: worn in ${paths[0]}, but SPEC.md has no family ${family}`);
  }
  return faults;
}

function findRuleFaults(rule: Rule, earlier: readonly Rule[], families: ReadonlySet<string>): readonly string[] {
  const faults: string[] = [];
  if (!ID.test(rule.id)) faults.push(`${rule.id}: not a rule id such as TX-2`);
  else if (!families.has(rule.family)) faults.push(`${rule.id}: SPEC.md has no family ${rule.family}`);
  if (earlier.some(({ id }) => id === rule.id)) faults.push(`${rule.id}: given twice`);
  if (!/^[A-Z`].*\.$/.test(rule.sentence)) faults.push(`${rule.id}: a rule is one sentence and ends in a full stop`);
  return faults;
}

function canWear(path: string): boolean {
  if (path.startsWith("test/gates/")) return false; // planted ids live there
  return isTest(path) || path.startsWith("test/") || path.startsWith("src/testing/");
}
