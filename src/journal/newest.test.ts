import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { between, collect, ioError, memoryDeps, said } from "../../test/support/stores.ts";
import type { Store } from "../contracts/store.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { openJournal } from "./open.ts";

/** Commits that fail, each before or after it was applied. */
type Failing = ReadonlyMap<number, "unsent" | "unclear">;

function watched(failing: Failing) {
  const { store, ...deps } = memoryDeps();
  const seen = { reads: 0, commits: 0 };
  const flaky = between(store, {
    before: () => {
      seen.commits += 1;
      if (failing.get(seen.commits) === "unsent") throw ioError();
      return undefined;
    },
    after: () => {
      if (failing.get(seen.commits) === "unclear") throw ioError();
    },
  });
  const counted: Store = {
    ...flaky,
    reading: (use) => {
      seen.reads += 1;
      return flaky.reading(use);
    },
  };
  return { deps: { ...deps, store: counted }, seen };
}

describe("who follows a writer", () => {
  test("[JOURNAL-20] hears what was just written without a look at the store", async () => {
    const { deps, seen } = watched(new Map());
    const journal = await openJournal(deps, "s");
    await journal.append([said("a"), said("b")]);
    await journal.append(said("c"));
    const before = seen.reads;
    const heard = await collect(journal.readOn(2));
    expect(heard.map((entry) => "text" in entry && entry.text)).toEqual(["b", "c"]);
    expect(await collect(journal.readOn(4))).toEqual([]);
    expect(seen.reads).toBe(before);
    expect(heard).toEqual(await collect(journal.read({ from: 2 })));
  });

  test("[JOURNAL-20] reads the store for what another process wrote, and for what is too much to remember", async () => {
    const deps = memoryDeps();
    const first = await openJournal(deps, "s");
    await first.append(said("theirs"));
    await first.close();
    const journal = await openJournal(deps, "s");
    await journal.append(said("ours"));
    expect(await collect(journal.readOn(1))).toEqual(await collect(journal.read()));
    for (let nth = 0; nth < 3; nth += 1) await journal.append(said(String(nth).repeat(700_000)));
    expect(await collect(journal.readOn(2))).toEqual(await collect(journal.read({ from: 2 })));
  });

  test("[JOURNAL-20] is told what the store would tell, whatever failed, was repeated or overtaken", async () => {
    const step = fc.record({
      texts: fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 }),
      operation: fc.option(fc.constantFrom("x", "y"), { nil: undefined }),
      bad: fc.boolean(),
      wait: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 10 }),
        fc.array(fc.tuple(fc.integer({ min: 3, max: 15 }), fc.constantFrom("unsent", "unclear"))),
        async (steps, fails) => {
          const { deps } = watched(new Map(fails));
          const journal = await openJournal(deps, "s");
          const under: Promise<unknown>[] = [];
          for (const { texts, operation, bad, wait } of steps) {
            const drafts = [...texts.map(said), ...(bad ? [{ kind: "no-such" } as unknown as RecordDraft] : [])];
            under.push(journal.append(drafts, operation === undefined ? {} : { operation }).catch(() => {}));
            if (wait) await Promise.all(under);
          }
          await Promise.all(under);
          await journal.append(said("last")).catch(() => {});
          const { seq: to } = journal.head;
          for (let from = 1; from <= to; from += 1)
            expect(await collect(journal.readOn(from))).toEqual(await collect(journal.read({ from, to })));
          expect(await collect(journal.readOn(to + 1))).toEqual([]);
        },
      ),
    );
  });
});
