import { HoldfastError } from "./errors.ts";

/** What an option's value must be, in words for whoever gave another. */
export interface OptionRule {
  readonly wants: string;
  readonly fits: (value: unknown) => boolean;
}

export type OptionRules<O> = { readonly [K in keyof Required<O>]: OptionRule };

/**
 * Refuses, by its name, an option that cannot work and one that does not exist: a misspelt option would be taken for its
 * default without a word.
 */
export function checkOptions<O extends object>(options: O, rules: OptionRules<O>): void {
  if (!isObject(options)) throw badOption("options", options, "an object");
  for (const [option, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, option) ? rules[option as keyof O] : undefined;
    if (rule === undefined) throw new HoldfastError("BAD_OPTION", { option, known: Object.keys(rules).join(", ") });
    if (value !== undefined && !rule.fits(value)) throw badOption(option, value, rule.wants);
  }
}

export function badOption(option: string, value: unknown, wants: string): HoldfastError {
  const shown = typeof value === "object" && value !== null ? "an object" : String(value).slice(0, 80);
  return new HoldfastError("BAD_OPTION", { option, value: shown, wants });
}

export const ANYTHING: OptionRule = { wants: "anything", fits: () => true };
export const BOOLEAN: OptionRule = { wants: "true or false", fits: (value) => typeof value === "boolean" };
export const OBJECT: OptionRule = { wants: "an object", fits: isObject };
export const FUNCTION: OptionRule = { wants: "a function", fits: (value) => typeof value === "function" };
export const LIST: OptionRule = { wants: "a list", fits: (value) => Array.isArray(value) };
export const TEXT: OptionRule = { wants: "a text", fits: (value) => typeof value === "string" };
/** Zero or more; also without end. */
export const AMOUNT: OptionRule = {
  wants: "a number from 0",
  fits: (value) => typeof value === "number" && value >= 0,
};

export function oneOf(...words: readonly string[]): OptionRule {
  return { wants: words.join(" or "), fits: (value) => typeof value === "string" && words.includes(value) };
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): OptionRule {
  const fits = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return { wants: `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`, fits };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
