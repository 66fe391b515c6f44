import type { Script } from "../../records/script.ts";
import { type Law, lawsOf } from "../law.ts";
import { ABORTS } from "./aborts.ts";
import { ANSWERS } from "./answers.ts";
import { CUTS } from "./cuts.ts";
import { FAILURES } from "./failures.ts";
import { IDS } from "./ids.ts";
import { REQUESTS } from "./requests.ts";
import { SEALS } from "./seals.ts";
import { SETTINGS } from "./settings.ts";
import type { Abilities, Bench, Opened } from "./bench.ts";

/** The adapter that the laws test. */
export interface AdapterUnderLaw {
  /** Opens a model that answers as the script says. Over HTTP: `overServer((url) => yourModel({ baseURL: url }))`. */
  readonly open: (script: Script) => Promise<Opened>;
  /**
   * What the provider can do; default: everything. Turn off only what the provider itself cannot do, never what the
   * adapter leaves out.
   */
  readonly can?: Partial<Abilities>;
}

const ALL: Abilities = {
  reasoning: true,
  effort: true,
  refusals: true,
  contentFilter: true,
  malformedArguments: true,
  rawIds: true,
  answerIds: true,
};

/** The laws that every model adapter must keep: `register(adapterLaws("mine", { open }), test)`. */
export function adapterLaws(name: string, { open, can = {} }: AdapterUnderLaw): readonly Law[] {
  const bench: Bench = { open, can: { ...ALL, ...can } };
  return lawsOf(
    name,
    [...ANSWERS, ...REQUESTS, ...SETTINGS, ...SEALS, ...IDS, ...CUTS, ...FAILURES, ...ABORTS],
    () => bench,
  );
}
