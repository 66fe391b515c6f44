import { wornIds } from "./spec-coverage.ts";
import type { Tree } from "./tree.ts";

interface SeedRow {
  readonly id: string;
  readonly entry: string;
  readonly ours: string;
  readonly where: string;
  readonly proof: string;
}

export interface SeedFacts {
  readonly tree: Tree;
  /** Text of public-door.txt: `export:name` must stand there. */
  readonly door: string;
  /** Titles of the open issues that `planned:` may name. */
  readonly issues: readonly string[];
  /** Rows once written do not vanish. */
  readonly minimum: number;
}

const NONE = "-";

/** The rows of every table in docs/seeds.md, header and rule lines left out. */
function seedRows(page: string): readonly SeedRow[] {
  return page
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\| *(id|-+) *\|/.test(line))
    .map((line) => {
      const [id = "", entry = "", ours = "", where = "", proof = "", ...rest] = cellsOf(line);
      return rest.length === 0
        ? { id, entry, ours, where, proof }
        : { id, entry, ours, where, proof: "too many cells" };
    });
}

/** Every row that is malformed, given twice, or claims something that is not there. */
export function findSeedFaults(page: string, facts: SeedFacts): readonly string[] {
  const rows = seedRows(page);
  const worn = wornIds(facts.tree);
  const seen = new Set<string>();
  const faults = rows.flatMap((row) => {
    const found = findRowFaults(row, facts, new Set(worn.keys()));
    if (seen.has(row.id)) found.push("given twice");
    seen.add(row.id);
    return found.map((fault) => `${row.id}: ${fault}`);
  });
  if (rows.length < facts.minimum) faults.push(`${rows.length} rows, at least ${facts.minimum} were written`);
  return faults;
}

function findRowFaults(row: SeedRow, facts: SeedFacts, worn: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  if (!/^S00[0-4]-\d{2,3}$/.test(row.id)) faults.push("not a row id such as S000-01");
  if (row.entry === "" || row.ours === "") faults.push("a cell is empty");
  const planned = /^planned: (.*)$/.exec(row.where);
  if (planned !== null) {
    if (!facts.issues.includes(planned[1] ?? "")) faults.push(`no open issue is called "${planned[1]}"`);
    if (row.proof !== NONE) faults.push("what is planned has no proof yet");
    return faults;
  }
  const departed = /^departed: (.+?)(?: · (.*))?$/.exec(row.where);
  const places = (departed === null ? row.where : (departed[2] ?? "")).split(", ").filter((place) => place !== "");
  faults.push(...findPlaceFaults(places, facts));
  if (departed === null && places.length === 0) faults.push("names no file, no export, no departure and no issue");
  if (departed !== null && places.length === 0 && row.proof === NONE) return faults;
  return [...faults, ...findProofFaults(row.proof, worn)];
}

function findPlaceFaults(places: readonly string[], facts: SeedFacts): readonly string[] {
  return places.flatMap((place) => {
    const name = /^`export:(\w+)`$/.exec(place)?.[1];
    if (name !== undefined) {
      return new RegExp(`^  (?:type )?${name}$`, "m").test(facts.door) ? [] : [`nothing exports ${name}`];
    }
    const path = /^`([\w./-]+)`$/.exec(place)?.[1];
    if (path === undefined) return [`"${place}" is neither a file nor an export`];
    return facts.tree.has(path) ? [] : [`${path} does not exist`];
  });
}

function findProofFaults(proof: string, worn: ReadonlySet<string>): readonly string[] {
  if (!/^\[[A-Z]+-?\d+\](, \[[A-Z]+-?\d+\])*$/.test(proof)) return [`"${proof}" names no test`];
  const ids = [...proof.matchAll(/\[(.+?)\]/g)].map(([, id = ""]) => id);
  return ids.filter((id) => !worn.has(id)).map((id) => `no test wears ${id}`);
}

function cellsOf(line: string): readonly string[] {
  return line
    .replace(/^\|/, "")
    .replace(/\|\s*$/, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
