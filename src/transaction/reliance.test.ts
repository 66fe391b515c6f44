import fc from "fast-check";
import { expect, test } from "vitest";
import { Reliance } from "./reliance.ts";

interface Effect {
  readonly name: string;
  readonly owners: Map<string, string>;
}

/** Calls, some of them inside others. */
const OUTERMOST: Readonly<Record<string, string>> = { a: "a", "a.1": "a", "a.2": "a", b: "b", "b.1": "b" };
const CALLS = Object.keys(OUTERMOST);
const step = fc.record({
  does: fc.constantFrom("add", "drop", "hide", "show"),
  nth: fc.nat(3),
  owner: fc.constantFrom(...CALLS),
});

test("[TX-44] what a call relies on is found by the call as it would be by looking through everything", () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const reliance = new Reliance<Effect>();
      const effects = ["1", "2", "3", "4"].map((name): Effect => ({ name, owners: new Map() }));
      const hidden = new Set<Effect>();
      for (const { does, nth, owner } of steps) {
        const effect = effects[nth] as Effect;
        if (does === "hide") reliance.hide(effect);
        else if (does === "show") reliance.show(effect);
        if (does === "hide") hidden.add(effect);
        else if (does === "show") hidden.delete(effect);
        // What is hidden is relied on by nobody new; who relied on it may still let it go.
        else if (does === "add" && !hidden.has(effect)) reliance.add(effect, owner, OUTERMOST[owner] as string);
        else if (does === "drop") reliance.drop(effect, owner);
      }
      const shown = effects.filter((effect) => !hidden.has(effect));
      const relying = new Set(shown.flatMap(({ owners }) => [...owners.keys()]));
      expect(new Set(reliance.owners())).toEqual(relying);
      for (const call of CALLS) {
        expect(reliance.has(call)).toBe(relying.has(call));
        expect(new Set(reliance.of([call]))).toEqual(new Set(shown.filter(({ owners }) => owners.has(call))));
        const inside = new Set([...relying].filter((owner) => OUTERMOST[owner] === call));
        expect(new Set(reliance.inside(call))).toEqual(inside);
        expect(new Set(reliance.owners(new Set([call])))).toEqual(relying.difference(inside));
      }
    }),
  );
});
