import { types } from "node:util";
import { type Difference, differencesOf } from "./list-differences.ts";
import {
  hasMoreThanElements,
  isData,
  isObject,
  isPlain,
  LONGEST_ESCAPE,
  LONGEST_NUMBER,
  NO_FIELDS,
  NOTHING_KNOWN,
} from "./plain-json.ts";
import { err, ok, type Result } from "./result.ts";
import { inWords } from "./words.ts";

/** What survives a round trip through JSON, and nothing else. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json | undefined };

/** How deep and how large a JSON value may be. */
export interface JsonLimits {
  /** How deep arrays and objects may be nested. Beyond a few thousand levels, `JSON.stringify` overflows the stack. */
  readonly depth: number;
  /** Characters of the encoded text. Writing and reading share this limit, so what was accepted can be read back. */
  readonly characters: number;
}

/** The default limits: 128 levels, 64 Mi characters. */
export const JSON_LIMITS: JsonLimits = { depth: 128, characters: 64 * 1024 * 1024 };

/** For what will be kept inside a record or a change: room is left for what is put around it. */
export const KEPT_LIMITS: JsonLimits = { depth: 96, characters: 32 * 1024 * 1024 };

export type JsonFaultKind = "too-deep" | "too-large" | "not-json" | "unsafe-key" | "cycle" | "throws" | "not-parsable";

/** Why a value cannot be kept as JSON, and where in it. */
export interface JsonFault {
  readonly kind: JsonFaultKind;
  /** Where in the value, e.g. `$.args[2].name`. */
  readonly path: string;
  readonly detail: string;
}

/** A change that was made to a value so that it reads back equal. */
export interface JsonRepair {
  readonly kind: "surrogate-replaced" | "negative-zero" | "undefined-dropped";
  readonly path: string;
}

export interface CheckedJson {
  /** The same reference when it was plain data and nothing had to be repaired; getters and proxies are read once and copied. */
  readonly value: Json;
  readonly repairs: readonly JsonRepair[];
}

export interface EncodedJson {
  readonly text: string;
  /** What the text parses to. */
  readonly value: Json;
  readonly repairs: readonly JsonRepair[];
}

/**
 * Checks that a value is plain JSON within limits. Three things are repaired and reported: lone surrogates become
 * U+FFFD, -0 becomes 0, and undefined fields are dropped. Anything else that JSON would change or drop is a fault,
 * except fields that are not enumerable: they are ignored.
 *
 * `known` is an earlier version that passed: what the value shares with it by reference is neither checked nor counted.
 */
export function checkJson(
  value: unknown,
  limits: JsonLimits = JSON_LIMITS,
  known?: Json,
): Result<CheckedJson, JsonFault> {
  if (isPlain(value, known, limits)) return ok({ value: value as Json, repairs: [] });
  // Counting with the longest form of every text and number is cheap, and nearly every value fits even so.
  const roughly = walkWith({ limits, exact: false }, value, known);
  return roughly.ok || roughly.error.kind !== "too-large" ? roughly : walkWith({ limits, exact: true }, value, known);
}

/** The text of a checked value. Getters and proxies were read once, so what was checked is what this text parses to. */
export function encodeJson(value: unknown, limits: JsonLimits = JSON_LIMITS): Result<EncodedJson, JsonFault> {
  const checked = checkJson(value, limits);
  if (!checked.ok) return checked;
  return ok({ text: JSON.stringify(checked.value.value), ...checked.value });
}

/**
 * `JSON.parse` that refuses what could not be saved again: too deep, too large, prototype keys, numbers beyond a double.
 * Of duplicate keys the last wins, and a number becomes the nearest double, as everywhere in JavaScript.
 */
export function parseJson(text: string, limits: JsonLimits = JSON_LIMITS): Result<Json, JsonFault> {
  const read = readJson(text, limits);
  return read.ok ? ok(read.value.checked.value) : read;
}

/** The same, unrepaired: for who hands it on to somebody who repairs it, and tells of it. */
export function parseAsWritten(text: string, limits: JsonLimits = JSON_LIMITS): Result<Json, JsonFault> {
  const read = readJson(text, limits);
  return read.ok ? ok(read.value.parsed as Json) : read;
}

function readJson(
  text: string,
  limits: JsonLimits,
): Result<{ readonly parsed: unknown; readonly checked: CheckedJson }, JsonFault> {
  if (text.length > limits.characters) {
    return err({ kind: "too-large", path: "$", detail: `${text.length} characters, at most ${limits.characters}` });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (thrown) {
    return err({ kind: "not-parsable", path: "$", detail: withoutQuotedText((thrown as Error).message) });
  }
  const checked = checkJson(parsed, limits);
  return checked.ok ? ok({ parsed, checked: checked.value }) : checked;
}

interface Walk {
  readonly limits: JsonLimits;
  readonly exact: boolean;
  room: number;
  readonly parents: object[];
  readonly path: (string | number)[];
  readonly repairs: JsonRepair[];
}

class Stop {
  readonly kind: JsonFaultKind;
  readonly detail: string;

  constructor(kind: JsonFaultKind, detail: string) {
    this.kind = kind;
    this.detail = detail;
  }
}

function walkWith(
  how: Pick<Walk, "limits" | "exact">,
  value: unknown,
  known: Json | undefined,
): Result<CheckedJson, JsonFault> {
  const walk: Walk = { ...how, room: how.limits.characters, parents: [], path: [], repairs: [] };
  try {
    const checked = walkValue(walk, value, known);
    return ok({ value: checked, repairs: walk.repairs });
  } catch (thrown) {
    if (thrown instanceof Stop) return err({ kind: thrown.kind, path: pathText(walk.path), detail: thrown.detail });
    // A getter or a Proxy trap of the caller threw: theirs to mend, not ours to crash on.
    return err({ kind: "throws", path: pathText(walk.path), detail: inWords(thrown) });
  }
}

function walkValue(walk: Walk, value: unknown, known: unknown): Json {
  switch (typeof value) {
    case "string":
      return value === known ? value : walkText(walk, value);
    case "number":
      return walkNumber(walk, value);
    case "boolean":
      spend(walk, value ? 4 : 5);
      return value;
    case "object":
      if (value !== null) return value === known ? (value as Json) : walkObject(walk, value, known);
      spend(walk, 4);
      return null;
    default:
      throw new Stop("not-json", `${typeof value} has no JSON form`);
  }
}

function walkText(walk: Walk, text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  spend(walk, encodedLength(walk, whole));
  if (whole !== text) repaired(walk, "surrogate-replaced");
  return whole;
}

function walkNumber(walk: Walk, value: number): number {
  if (!Number.isFinite(value)) throw new Stop("not-json", `${value} has no JSON form`);
  spend(walk, walk.exact ? String(value).length : LONGEST_NUMBER);
  if (!Object.is(value, -0)) return value;
  repaired(walk, "negative-zero");
  return 0;
}

function walkObject(walk: Walk, value: object, known: unknown): Json {
  if (walk.parents.length >= walk.limits.depth) throw new Stop("too-deep", `more than ${walk.limits.depth} levels`);
  if (walk.parents.includes(value)) throw new Stop("cycle", "the value contains itself");
  walk.parents.push(value);
  spend(walk, 2);
  const result = Array.isArray(value)
    ? walkArray(walk, value, Array.isArray(known) ? (known as readonly unknown[]) : NOTHING_KNOWN)
    : walkFields(walk, value as Record<string, unknown>, isObject(known) ? known : NO_FIELDS);
  walk.parents.pop();
  return result;
}

function walkArray(walk: Walk, values: readonly unknown[], known: readonly unknown[]): Json {
  if (Object.getPrototypeOf(values) !== Array.prototype) throw new Stop("not-json", "a subclass of Array is not plain");
  if ("toJSON" in values) throw new Stop("not-json", "toJSON would replace the array");
  const proxy = types.isProxy(values);
  let copy: Json[] | undefined = proxy ? [] : undefined;
  for (const { was, is } of proxy ? wholeOf(values) : differencesOf(known, values)) {
    const aligned = was.to - was.from === is.to - is.from;
    for (let index = copy?.length ?? is.from; index < is.from; index += 1) copy?.push(values[index] as Json);
    for (let index = is.from; index < is.to; index += 1) {
      const data = copy !== undefined || isData(values, index);
      const before = values[index];
      if (index > 0) spend(walk, 1);
      walk.path.push(index);
      const after = walkValue(walk, before, aligned ? known[was.from + index - is.from] : undefined);
      walk.path.pop();
      if (copy === undefined && !(data && Object.is(after, before))) copy = values.slice(0, index) as Json[];
      copy?.push(after);
    }
  }
  refuseSymbols(values);
  if (hasMoreThanElements(values, known)) throw new Stop("not-json", "the array has fields beside its elements");
  return copy === undefined ? (values as readonly Json[]) : copy.concat(values.slice(copy.length) as Json[]);
}

/** Nothing of it is known, and each element is read once. */
function wholeOf(values: readonly unknown[]): readonly Difference[] {
  return [{ was: { from: 0, to: 0 }, is: { from: 0, to: values.length } }];
}

function walkFields(walk: Walk, source: Record<string, unknown>, known: object): Json {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Stop("not-json", `${prototypeName(prototype)} is not plain data`);
  }
  refuseSymbols(source);
  let copy: Record<string, Json> | undefined = types.isProxy(source) ? {} : undefined;
  let kept = 0;
  const keys = Object.keys(source);
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    walk.path.push(key);
    refuseKey(key);
    const data = copy !== undefined || isData(source, key);
    const before = source[key];
    let after: Json | undefined;
    if (before === undefined) repaired(walk, "undefined-dropped");
    else {
      spend(walk, encodedLength(walk, key) + (kept > 0 ? 2 : 1));
      kept += 1;
      after = walkValue(walk, before, (known as Record<string, unknown>)[key]);
      refuseConstructor(key, after);
    }
    walk.path.pop();
    if (copy === undefined && !(data && after !== undefined && Object.is(after, before))) {
      copy = copyFields(source, keys.slice(0, index));
    }
    if (copy !== undefined && after !== undefined) copy[key] = after;
  }
  return copy ?? (source as JsonObject);
}

function copyFields(source: Record<string, unknown>, keys: readonly string[]): Record<string, Json> {
  const copy: Record<string, Json> = {};
  for (const key of keys) copy[key] = source[key] as Json;
  return copy;
}

function refuseKey(key: string): void {
  if (key === "__proto__") throw new Stop("unsafe-key", "the key would change a prototype when copied");
  // Two broken keys could repair to the same one, and a field would be lost.
  if (!key.isWellFormed()) throw new Stop("unsafe-key", "the key holds a lone surrogate");
}

function refuseConstructor(key: string, value: Json): void {
  if (key !== "constructor" || typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, "prototype")) {
    throw new Stop("unsafe-key", "constructor.prototype would change a prototype when merged");
  }
}

function refuseSymbols(value: object): void {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, symbol)) continue;
    throw new Stop("not-json", `the field ${String(symbol)} would be dropped`);
  }
}

function spend(walk: Walk, characters: number): void {
  walk.room -= characters;
  if (walk.room < 0) throw new Stop("too-large", `more than ${walk.limits.characters} characters`);
}

function encodedLength(walk: Walk, text: string): number {
  if (!walk.exact) return text.length * LONGEST_ESCAPE + 2;
  // Already too long: do not scan it.
  if (text.length > walk.room) return text.length;
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).length : text.length + 2;
}

// oxlint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const NEEDS_ESCAPE = /["\\\u0000-\u001f]/;

function repaired(walk: Walk, kind: JsonRepair["kind"]): void {
  walk.repairs.push({ kind, path: pathText(walk.path) });
}

function prototypeName(prototype: unknown): string {
  const maker = (prototype as { constructor?: { name?: unknown } }).constructor;
  return typeof maker?.name === "string" && maker.name !== "" ? maker.name : "an object with a prototype";
}

/** V8 quotes the text it could not parse, and the text may hold a secret. */
function withoutQuotedText(message: string): string {
  return message.replace(/,? (\.\.\.)?".*$/s, "");
}

function pathText(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === "number"
        ? `${text}[${step}]`
        : /^[A-Za-z_$][\w$]*$/.test(step)
          ? `${text}.${step}`
          : `${text}[${JSON.stringify(step)}]`,
    "$",
  );
}
