import { HoldfastError } from "./errors.ts";
import { nearest } from "./nearest.ts";

/** What an option's value must be, in words for whoever gave another. */
export interface OptionRule {
  readonly wants: string;
  readonly fits: (value: unknown) => boolean;
  /** How a value that does not fit is quoted, where it may hold a secret. */
  readonly shown?: (value: unknown) => unknown;
  /** What its own options must be. */
  readonly within?: Readonly<Record<string, OptionRule>>;
  /** What each of its values must be. */
  readonly each?: OptionRule;
  /** What no two of its values may have in common. */
  readonly apart?: string;
  /** One of these, whichever fits. */
  readonly sides?: readonly OptionRule[];
  /** Those of its options that must be there. */
  readonly needs?: readonly string[];
}

export type OptionRules<O> = { readonly [K in keyof Required<O>]: OptionRule };

/**
 * Refuses, by its name, an option that cannot work and one that does not exist: a misspelt option would be taken for its
 * default without a word.
 */
export function checkOptions<O extends object>(
  given: O,
  rules: OptionRules<O>,
  needs: readonly (keyof O & string)[] = [],
): void {
  if (!isObject(given)) throw badOption("options", given, "an object");
  checkWithin("", given, rules, needs);
}

function checkWithin(
  path: string,
  given: object,
  rules: Readonly<Record<string, OptionRule>>,
  needs: readonly string[],
): void {
  for (const [name, value] of Object.entries(given)) {
    const option = `${path}${name}`;
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) throw noOption(option, name, Object.keys(rules));
    if (value !== undefined) checkValue(option, value, rule);
  }
  const missing = needs.find((need) => (given as Record<string, unknown>)[need] === undefined);
  if (missing !== undefined) throw badOption(`${path}${missing}`, undefined, rules[missing]?.wants ?? "a value");
}

function checkValue(option: string, value: unknown, rule: OptionRule): void {
  const { wants, fits, shown, each, apart, within, needs = [] } = rule.sides?.find((side) => side.fits(value)) ?? rule;
  if (!fits(value)) throw badOption(option, shown === undefined ? value : shown(value), wants);
  if (each !== undefined && Array.isArray(value))
    for (const [nth, one] of value.entries()) checkValue(`${option}[${nth}]`, one, each);
  if (apart !== undefined && Array.isArray(value)) checkApart(option, value, apart);
  if (within !== undefined && isOptions(value)) checkWithin(`${option}.`, value, within, needs);
}

function checkApart(option: string, values: readonly Readonly<Record<string, unknown>>[], by: string): void {
  const taken = new Set<unknown>();
  for (const [nth, { [by]: own }] of values.entries()) {
    if (taken.has(own)) throw badOption(`${option}[${nth}].${by}`, own, `${by} that no other has`);
    taken.add(own);
  }
}

function noOption(option: string, name: string, known: readonly string[]): HoldfastError {
  const meant = nearest(name, known);
  const hint = meant === undefined ? {} : { didYouMean: meant };
  return new HoldfastError("BAD_OPTION", { option, ...hint, known: known.join(", ") });
}

/** What was given, over the defaults. What is undefined is not given: it takes no default away. */
export function overDefaults<T extends object>(defaults: T, ...given: readonly (Partial<T> | undefined)[]): T {
  const set = given.flatMap((one) => Object.entries(one ?? {}).filter(([, value]) => value !== undefined));
  return { ...defaults, ...Object.fromEntries(set) };
}

export function badOption(option: string, value: unknown, wants: string): HoldfastError {
  const object = Array.isArray(value) ? "a list" : "an object";
  const shown = typeof value === "object" && value !== null ? object : String(value).slice(0, 80);
  return new HoldfastError("BAD_OPTION", { option, value: shown, wants });
}

export const ANYTHING: OptionRule = { wants: "anything", fits: () => true };
export const BOOLEAN: OptionRule = { wants: "true or false", fits: (value) => typeof value === "boolean" };
export const OBJECT: OptionRule = { wants: "an object", fits: isObject };
export const FUNCTION: OptionRule = { wants: "a function", fits: (value) => typeof value === "function" };
export const LIST: OptionRule = { wants: "a list", fits: (value) => Array.isArray(value) };
export const TEXT: OptionRule = { wants: "a text", fits: (value) => typeof value === "string" };
/** Also without end. */
export function atLeast(least: number): OptionRule {
  return { wants: `a number from ${least}`, fits: (value) => typeof value === "number" && value >= least };
}

/** Zero or more; also without end. */
export const AMOUNT: OptionRule = atLeast(0);
export const ABOVE_0: OptionRule = {
  wants: "a number above 0",
  fits: (value) => typeof value === "number" && value > 0,
};

export function oneOf(...words: readonly string[]): OptionRule {
  return { wants: words.join(" or "), fits: (value) => typeof value === "string" && words.includes(value) };
}

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): OptionRule {
  const fits = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return { wants: `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`, fits };
}

/** An object of options of its own. */
export function options<O extends object>(
  within: OptionRules<O>,
  needs: readonly (keyof O & string)[] = [],
): OptionRule {
  return { wants: "an object", fits: isOptions, within, needs };
}

/** `apart`: what no two of them may have in common. */
export function listOf(each: OptionRule, apart?: string): OptionRule {
  return { ...LIST, each, ...(apart === undefined ? {} : { apart }) };
}

export function either(...sides: readonly OptionRule[]): OptionRule {
  const wants = sides.map((side) => side.wants).join(" or ");
  return { wants, fits: (value) => sides.some((side) => side.fits(value)), sides };
}

export function having(...methods: readonly string[]): OptionRule {
  return {
    wants: `an object with ${methods.join(", ")}`,
    fits: (value) =>
      methods.every((method) => typeof (Object(value) as Record<string, unknown>)[method] === "function"),
  };
}

export const STANDARD_SCHEMA: OptionRule = {
  wants: "a Standard Schema, as zod, valibot and others make them",
  fits: (value) => having("validate").fits((Object(value) as Record<string, unknown>)["~standard"]),
};

/** Something with a name, made by what is named here. */
export function madeBy(maker: string, ...methods: readonly string[]): OptionRule {
  const { fits } = having(...methods);
  return { wants: `what ${maker} returns`, fits: (value) => fits(value) && TEXT.fits(Object(value).name) };
}

function isOptions(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
