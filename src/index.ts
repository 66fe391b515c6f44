/** The one door. Explicit names only; a gate keeps this list and its documentation in step. */
export { type Clock, FixedClock, type Instant, SystemClock } from "./base/clock.ts";
export { ERROR_CODES, type ErrorCode } from "./base/error-codes.ts";
export { HoldfastError } from "./base/errors.ts";
export { countingIds, type IdSource, randomIds } from "./base/ids.ts";
export {
  checkJson,
  JSON_LIMITS,
  type Json,
  type JsonFault,
  type JsonLimits,
  type JsonObject,
  type JsonRepair,
} from "./base/json.ts";
export { type Random, SeededRandom, SystemRandom } from "./base/random.ts";
export type { Result } from "./base/result.ts";
