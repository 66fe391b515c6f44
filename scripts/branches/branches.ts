interface Place {
  readonly start: { readonly line: number; readonly column: number };
}

/** What istanbul's format tells of the branches of one file. */
export interface BranchCounts {
  readonly branchMap: Readonly<
    Record<string, { readonly type: string; readonly line?: number; readonly locations: readonly Place[] }>
  >;
  readonly b: Readonly<Record<string, readonly number[]>>;
}

/** One arm of a branch: where it stands, and how often it was taken. */
interface Arm {
  readonly line: number;
  readonly place: string;
  readonly taken: number;
}

export type Arms = Map<string, Arm>;

/** What the types have proven is no branch that a test could take: the end of a switch that names every case. */
export function withoutProven(arms: Arms, code: string): Arms {
  const lines = code.split("\n");
  const isProven = ({ line }: Arm) =>
    /^\s*default:/.test(lines[line - 1] ?? "") && /unreachable\(/.test(lines[line] ?? "");
  return new Map([...arms].filter(([, arm]) => !isProven(arm)));
}

/** By its place in the source, which is the same whoever counted: types are taken out in place. */
function armsOf({ branchMap, b }: BranchCounts): Arms {
  const arms = new Map<string, Arm>();
  for (const [id, { type, locations }] of Object.entries(branchMap))
    for (const [nth, taken] of (b[id] ?? []).entries()) {
      const { start = { line: 0, column: 0 } } = locations[nth] ?? {};
      const [outer = { start }] = locations;
      const place = `${type} ${outer.start.line}:${outer.start.column} arm ${nth}`;
      const key = `${place} ${start.line}:${start.column}`;
      arms.set(key, { line: start.line ?? outer.start.line, place, taken: (arms.get(key)?.taken ?? 0) + taken });
    }
  return arms;
}

/** All that was taken by anybody, in the tests and in what they started. A file that only children loaded counts as well. */
export function merged(
  own: Readonly<Record<string, BranchCounts>>,
  children: ReadonlyMap<string, BranchCounts>,
): ReadonlyMap<string, Arms> {
  const files = new Map(Object.entries(own).map(([path, counts]) => [path, armsOf(counts)]));
  for (const [path, counts] of children) {
    const theirs = armsOf(counts);
    const known = files.get(path);
    if (known === undefined) files.set(path, theirs);
    else for (const [key, arm] of known) known.set(key, { ...arm, taken: arm.taken + (theirs.get(key)?.taken ?? 0) });
  }
  return files;
}
