import { ERROR_CODES, type ErrorCode } from "./error-codes.ts";
import type { Json, JsonObject } from "./json.ts";
import { shownJson, shownName } from "./shown-name.ts";

const brand = Symbol.for("holdfast.error");

/** The one error class. `code` is stable, `tryThis` is the remedy, and `details` is data that holds no secret. */
export class HoldfastError extends Error {
  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly tryThis: string;
  readonly details: JsonObject;

  constructor(code: ErrorCode, details: JsonObject = {}, options?: { readonly cause?: unknown }) {
    super(messageOf(code, details), options);
    this.name = "HoldfastError";
    this.code = code;
    this.tryThis = ERROR_CODES[code].tryThis;
    this.details = details;
  }

  /**
   * Whether a value is a HoldfastError, with this code if one is given. Unlike `instanceof`, it works across two copies
   * of the package.
   */
  static is(value: unknown, code?: ErrorCode): value is HoldfastError {
    if (typeof value !== "object" || value === null || !(brand in value)) return false;
    return code === undefined || (value as HoldfastError).code === code;
  }
}

/** When two things fail, both are told: the first decides what it is called, by the name it is given here. */
export function bothErrors(first: unknown, second: unknown, named: unknown = first): unknown {
  const cause = new AggregateError([first, second], "an operation failed, and so did cleaning up after it");
  return HoldfastError.is(named) ? new HoldfastError(named.code, named.details, { cause }) : cause;
}

/** Does each, one after the other, whatever became of those before; then tells of all that failed. */
export async function eachOf(steps: Iterable<() => Promise<unknown>>): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps)
    try {
      await step();
    } catch (error) {
      failures.push(error);
    }
  throwAll(failures);
}

/** Throws what failed, if anything did: the first gives the error its name, and its cause has all of them. */
export function throwAll(failures: readonly unknown[]): void {
  if (failures.length > 0) throw failures.reduce((first, next) => bothErrors(first, next));
}

function messageOf(code: ErrorCode, details: JsonObject): string {
  return `${ERROR_CODES[code].says}${shownFacts(details)}`;
}

/** Details as a message carries them, in brackets behind what it says. */
export function shownFacts(details: JsonObject): string {
  const facts = Object.entries(details)
    .filter((fact): fact is [string, Json] => fact[1] !== undefined)
    .map(([key, value]) => `${key}: ${shownFact(value)}`);
  return facts.length === 0 ? "" : ` (${facts.join(", ")})`;
}

/** A path may hold line breaks, which would be lines of their own in a log, and what a terminal obeys. */
export function shownFact(value: Json): string {
  return typeof value === "string" ? shownName(value) : shownJson(value);
}
