import fc from "fast-check";

/**
 * Laws draw a new seed in every run, so that every run is a hunt. Whoever judges one change by itself sets
 * HOLDFAST_LAW_SEED: what then fails, the change broke.
 */
const seed = process.env["HOLDFAST_LAW_SEED"];
if (seed !== undefined) {
  if (!Number.isSafeInteger(Number(seed))) throw new RangeError(`HOLDFAST_LAW_SEED is "${seed}", not a whole number`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}
