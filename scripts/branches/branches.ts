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

export type Arms = ReadonlyMap<string, Arm>;

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

/** All that was taken by anybody. A file that only children loaded counts as well. */
export function merged(
  own: Readonly<Record<string, BranchCounts>>,
  others: ReadonlyMap<string, readonly BranchCounts[]>,
): ReadonlyMap<string, Arms> {
  const files = new Map<string, Arms>();
  for (const path of new Set([...Object.keys(own), ...others.keys()])) {
    const sources = [...(own[path] === undefined ? [] : [own[path]]), ...(others.get(path) ?? [])].map(armsOf);
    const [first = new Map<string, Arm>()] = sources;
    const sum = new Map(first);
    for (const arms of sources.slice(1))
      for (const [key, { taken }] of arms) {
        const known = sum.get(key);
        if (known !== undefined) sum.set(key, { ...known, taken: known.taken + taken });
      }
    files.set(path, sum);
  }
  return files;
}
