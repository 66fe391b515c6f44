import type { Arms } from "./branches.ts";

/** Where a branch that no test takes could cost somebody's work. Each file is to be covered whole. */
const CRITICAL: Readonly<Record<string, readonly string[]>> = {
  commit: ["transaction/settle.ts", "transaction/pending.ts", "turn/journal-ledger.ts", "turn/decide.ts"],
  rollback: [
    "state/branch.ts",
    "state/restore.ts",
    "transaction/marks.ts",
    "transaction/reliance.ts",
    "transaction/undo-effect.ts",
    "turn/rewind.ts",
    "turn/rewind-files.ts",
    "turn/rewound-by.ts",
    "history/rollback.ts",
  ],
  recovery: [
    "recover",
    "rebuild",
    "resume",
    "unfinished-fork",
    "fold",
    "effect-fold",
    "folded-effects",
    "tool-boundaries",
    "epochs",
    "kept-state",
  ].map((name) => `turn/${name}.ts`),
  pairing: ["scan", "plan", "resolve", "repair", "placement", "synthetic", "paired"].map(
    (name) => `history/${name}.ts`,
  ),
  fencing: [
    "stores/apply.ts",
    ...["open", "journal", "seal-batch", "keep-lease", "conflicts"].map((name) => `journal/${name}.ts`),
  ],
};

/** What must hold, in percent. */
const FLOOR = { whole: 95, critical: 100 };

export interface Figures {
  readonly lines: readonly string[];
  readonly ok: boolean;
}

/** Branches by room, and of the critical files by name what is still missing. */
export function figures(files: ReadonlyMap<string, Arms>, source: string): Figures {
  const named = new Map([...files].map(([path, arms]) => [path.slice(source.length + 1), arms] as const));
  const whole = countOf([...named.values()]);
  const rooms = Map.groupBy(named.keys(), (path) => path.split("/")[0] ?? "");
  const lines = [`coverage: ${percent(whole)} of ${whole.all} branches`];
  for (const [room, paths] of [...rooms].toSorted(([a], [b]) => a.localeCompare(b))) {
    const count = countOf(paths.map((path) => named.get(path) ?? new Map()));
    if (count.all > 0) lines.push(`  ${room.padEnd(14)} ${percent(count)}`);
  }
  const critical = Object.values(CRITICAL).flat();
  for (const [what, paths] of Object.entries(CRITICAL)) {
    const count = countOf(paths.map((path) => named.get(path) ?? new Map()));
    lines.push(`${what.padEnd(16)} ${percent(count)}`, ...paths.flatMap((path) => missing(path, named.get(path))));
  }
  const all = countOf(critical.map((path) => named.get(path) ?? new Map()));
  const ok = shareOf(whole) >= FLOOR.whole && shareOf(all) >= FLOOR.critical;
  if (!ok) lines.push(`below the floor: ${FLOOR.whole} % of everything, ${FLOOR.critical} % of what is critical`);
  return { lines, ok };
}

function missing(path: string, arms: Arms | undefined): readonly string[] {
  if (arms === undefined) return [`  ${path}: no test has loaded it`];
  const lines = [...new Set([...arms.values()].filter(({ taken }) => taken === 0).map(({ line }) => line))];
  return lines.length === 0 ? [] : [`  ${path}: not taken at ${lines.toSorted((a, b) => a - b).join(", ")}`];
}

interface Count {
  readonly taken: number;
  readonly all: number;
}

function countOf(files: readonly Arms[]): Count {
  const arms = files.flatMap((one) => [...one.values()]);
  return { taken: arms.filter(({ taken }) => taken > 0).length, all: arms.length };
}

function shareOf({ taken, all }: Count): number {
  return all === 0 ? 100 : (100 * taken) / all;
}

function percent(count: Count): string {
  return `${shareOf(count).toFixed(1).padStart(5)} %`;
}
