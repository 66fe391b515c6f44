import type { Clock } from "../base/clock.ts";
import { copyJson } from "../base/copy-json.ts";
import type { Json } from "../base/json.ts";
import { inWords } from "../base/words.ts";
import { isMarked } from "../records/redact.ts";
import type { EffectEntry, EffectSpec } from "./effect.ts";

const ATTEMPTS = 3;
const PATIENCE_MS = 30_000;

type Undoing = Pick<EffectSpec, "undo"> | undefined;

/** How to undo it. With a word in a secret's place something else would be undone, or nothing. */
export function undoingOf(args: Json, result: Json, spec: () => Undoing): Undoing {
  return isMarked(JSON.stringify([args, result])) ? SECRET_LOST : spec();
}

const SECRET_LOST: Undoing = {};

/** Why nobody here can even try. */
export function whyNever(spec: Undoing): string | undefined {
  if (spec === SECRET_LOST) return "it was done with a secret, which is not kept";
  return spec?.undo === undefined ? "no way to undo it is declared here" : undefined;
}

/** Undoes an effect, with several tries. Answers why it was not undone, if it was not. */
export async function whyNotUndone(
  { args, key }: EffectEntry,
  result: Json,
  spec: Undoing,
  clock: Clock,
): Promise<string | undefined> {
  const never = whyNever(spec);
  if (never !== undefined) return never;
  for (let attempt = 1; ; attempt += 1) {
    try {
      // Copies: what one try makes of them is not what the next one is given.
      await inTime(clock, async () => spec?.undo?.(copyJson(args) as never, copyJson(result) as never, { key }));
      return undefined;
    } catch (error) {
      if (attempt === ATTEMPTS) return `undoing it failed ${ATTEMPTS} times: ${inWords(error)}`;
    }
  }
}

/** An undo that never answers must not hold the session for ever. */
async function inTime(clock: Clock, work: () => Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(PATIENCE_MS, done.signal, "keep-alive").then(() => {
    throw new Error(`no answer within ${PATIENCE_MS} ms`);
  });
  late.catch(() => {}); // aborted when the work was in time
  try {
    await Promise.race([work(), late]);
  } finally {
    done.abort();
  }
}
