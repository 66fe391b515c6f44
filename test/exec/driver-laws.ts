import { describe, expect, test } from "vitest";
import { type Driver, IS_ROOT, missing, plainly, portrait, withCommands } from "../support/commands.ts";
import { freshRoot } from "../support/workspaces.ts";
import { ITEMS, layOut, type Item } from "./fidelity.ts";

/** What both drivers must do, for every item of the matrix: the same laws, the same oracle, which is a plain shell. */
export function driverLaws(driver: Driver): void {
  const why = missing(driver);
  describe.skipIf(why !== undefined)(`${driver}${why === undefined ? "" : ` (skipped: ${why})`}`, () => {
    test.each(ITEMS.filter((item) => !isRefused(item, driver)))(
      "[EXEC-1] [EXEC-8] [K38] undone it never was, kept it is what a plain shell makes of it: $what",
      async (item) => {
        const [at, plain] = [laid(item), laid(item)];
        const before = portrait(at.root, { times: true });
        const { sh, results, session } = await withCommands(driver, {}, at);
        const undone = await sh(item.line, { undo: true });
        expect([undone.reason, results[0]?.exitCode, session.state.poisoned]).toEqual(["undone", 0, false]);
        expect(portrait(at.root, { times: true })).toEqual(before);

        const untouched = steady(item, portrait(plain.root, { times: false }));
        plainly(plain.root, item.line);
        const kept = await sh(item.line);
        expect(kept.output).toEqual({ exit: 0 });
        const made = portrait(at.root, { times: false });
        const due = portrait(plain.root, { times: false });
        expect(steady(item, made)).toEqual(steady(item, due));
        expect(steady(item, results[1]?.changed.paths.map(asQuoted) ?? [])).toEqual(
          changedBetween(untouched, steady(item, due)).slice(0, 50),
        );
        if (item.times === true) expect(timesOf(at.root)).toEqual(timesOf(plain.root));
      },
    );

    test.each(ITEMS.filter((item) => isRefused(item, driver)))(
      "[EXEC-9] refused, and nothing has changed: $what",
      async (item) => {
        const at = laid(item);
        const before = portrait(at.root, { times: true });
        const { sh, session } = await withCommands(driver, {}, at);
        const { reason } = await sh(item.line);
        const due = item.closed === true ? "FILE_NOT_WRITABLE" : "EXEC_NOT_COVERED";
        expect([reason, session.state.poisoned]).toEqual([due, false]);
        expect(portrait(at.root, { times: true })).toEqual(before);
      },
    );
  });
}

function isRefused({ refused = [], unreadable, names, closed }: Item, driver: Driver): boolean {
  if (!IS_ROOT && (unreadable === true || ((names ?? closed) === true && driver === "overlay"))) return true;
  return refused.includes(driver);
}

function laid(item: Item) {
  const at = freshRoot();
  layOut(at.root);
  item.before?.(at.root);
  return at;
}

function steady({ varies }: Item, lines: readonly string[]): readonly string[] {
  return varies === undefined ? lines : lines.filter((line) => !varies.test(line));
}

function asQuoted(path: string): string {
  return JSON.stringify(Buffer.from(path).toString("latin1"));
}

/** Paths whose line is another one. Which names share a file is no change of their content. */
function changedBetween(before: readonly string[], after: readonly string[]): readonly string[] {
  const holds = (line: string) => line.replace(/ = .*$/, "");
  const [then, now] = [new Set(before.map(holds)), new Set(after.map(holds))];
  const other = [...[...now].filter((line) => !then.has(line)), ...[...then].filter((line) => !now.has(line))];
  const paths = new Set(other.flatMap((line) => /^"(?:[^"\\]|\\.)*"/.exec(line) ?? []));
  return [...paths].toSorted((a, b) => (textIn(a) < textIn(b) ? -1 : 1));
}

function textIn(quoted: string): string {
  return Buffer.from(JSON.parse(quoted) as string, "latin1").toString("utf8");
}

function timesOf(root: string): readonly string[] {
  return portrait(root, { times: true }).filter((line) => /^"(a\.txt|old)"/.test(line));
}
