import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { counter, diary, rig, steps } from "../../test/support/calls.ts";
import type { Savepoint, Stretch } from "./branch.ts";

/** By their places among what there is: whichever there are by then. */
const anyMove = fc.record({
  is: fc.constantFrom("open", "change", "change", "change", "savepoint", "rollback", "rollback"),
  which: fc.nat(11),
});

/** A change, and the moments at which it and what is around it began, from the inside out. */
interface Made {
  readonly name: string;
  readonly trail: readonly { readonly stretch: Stretch; readonly at: number }[];
}

describe("a branch", () => {
  test("[TX-20] holds what was not rolled back, and nothing else, however parts of it overlap", () => {
    fc.assert(
      fc.property(fc.array(anyMove, { maxLength: 40, size: "max" }), (moves) => {
        const { state } = rig([]);
        const branch = state.branch();
        const stretches: { readonly stretch: Stretch; readonly trail: Made["trail"] }[] = [
          { stretch: branch.whole, trail: [] },
        ];
        const savepoints: { readonly savepoint: Savepoint; readonly stretch: Stretch; readonly at: number }[] = [];
        let made: readonly Made[] = [];
        const told: string[] = [];
        const pick = <T>(all: readonly T[], which: number) => all[which % all.length] as T;
        for (const [at, { is, which }] of moves.entries()) {
          const { stretch, trail } = pick(stretches, which);
          if (is === "open") stretches.push({ stretch: branch.stretch(stretch), trail: [{ stretch, at }, ...trail] });
          if (is === "savepoint") savepoints.push({ savepoint: branch.savepoint(stretch), stretch, at });
          if (is === "change") {
            const name = `at ${at}`;
            branch.dispatch(steps.added(name), stretch);
            branch.dispatch(counter.added(at), stretch);
            branch.dispatch(diary.said(name), stretch);
            made = [...made, { name, trail: [{ stretch, at }, ...trail] }];
            told.push(name);
          }
          const back = pick(savepoints, which);
          if (is !== "rollback" || back === undefined) continue;
          branch.rollbackTo(back.savepoint);
          made = made.filter((one) => !one.trail.some((step) => step.stretch === back.stretch && step.at > back.at));
        }
        const names = made.map(({ name }) => name);
        const sum = names.reduce((total, name) => total + Number(name.slice("at ".length)), 0);
        const expected = [names, sum, told];
        expect([branch.get(steps), branch.get(counter), branch.get(diary)]).toEqual(expected);
        const { root } = branch.onto(state.root);
        expect([root.get("steps"), root.get("counter"), root.get("diary")]).toEqual(expected);
      }),
    );
  });
});
