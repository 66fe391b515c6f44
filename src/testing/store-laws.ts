import { type Law, lawsOf } from "./law.ts";
import { appends } from "./store-laws/appends.ts";
import { HandSetClock, type StoreUnderLaw } from "./store-laws/context.ts";
import { forks } from "./store-laws/forks.ts";
import { life } from "./store-laws/life.ts";
import { names } from "./store-laws/names.ts";
import { reach } from "./store-laws/reach.ts";
import { writers } from "./store-laws/writers.ts";

/** The laws that every store must keep: `register(storeLaws("mine", { … }), test)`. */
export function storeLaws(name: string, store: StoreUnderLaw): readonly Law[] {
  let places = 0;
  return lawsOf(name, [...writers, ...appends, ...forks, ...reach, ...names, ...life], () => {
    places += 1;
    const place = `${name.replaceAll(/[^A-Za-z0-9]+/g, "-")}-${places}`;
    const clock = new HandSetClock();
    return { can: store.can, clock, open: () => store.open(place, { clock }) };
  });
}
