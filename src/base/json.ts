import { err, ok, type Result } from "./result.ts";

/** What survives a round trip through JSON, and nothing else. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

export type JsonObject = { readonly [key: string]: Json | undefined };

export interface JsonLimits {
  /** Nesting of arrays and objects. Beyond a few thousand `JSON.stringify` overflows the stack on what `JSON.parse` took. */
  readonly depth: number;
  /** Characters of text in all keys and strings together. */
  readonly characters: number;
}

export const JSON_LIMITS: JsonLimits = { depth: 128, characters: 64 * 1024 * 1024 };

export type JsonFaultKind = "too-deep" | "too-large" | "not-json" | "unsafe-key" | "cycle" | "throws" | "not-parsable";

/** Why a value cannot be kept, and where in it. */
export interface JsonFault {
  readonly kind: JsonFaultKind;
  /** `$.args[2].name` */
  readonly path: string;
  readonly detail: string;
}

/** What was changed so that the value reads back equal: never silently. */
export interface JsonRepair {
  readonly kind: "surrogate-replaced" | "negative-zero" | "undefined-dropped";
  readonly path: string;
}

export interface CheckedJson {
  /** The same reference when nothing had to be repaired. */
  readonly value: Json;
  readonly repairs: readonly JsonRepair[];
}

export interface EncodedJson {
  readonly text: string;
  readonly repairs: readonly JsonRepair[];
}

/**
 * Checks that a value is plain JSON within limits. Three things are repaired and reported: lone surrogates become
 * U+FFFD, -0 becomes 0, undefined fields go. Everything else that JSON would change or drop is a fault.
 */
export function checkJson(value: unknown, limits: JsonLimits = JSON_LIMITS): Result<CheckedJson, JsonFault> {
  const walk: Walk = { limits, room: limits.characters, parents: [], path: [], repairs: [] };
  try {
    const checked = walkValue(walk, value);
    return ok({ value: checked, repairs: walk.repairs });
  } catch (thrown) {
    if (thrown instanceof Stop) return err({ kind: thrown.kind, path: pathText(walk.path), detail: thrown.detail });
    // A getter or a Proxy trap of the caller threw: theirs to mend, not ours to crash on.
    return err({ kind: "throws", path: pathText(walk.path), detail: String(thrown) });
  }
}

/** The text of a checked value. What was accepted is what this text parses to, whatever a getter answers later. */
export function encodeJson(value: unknown, limits: JsonLimits = JSON_LIMITS): Result<EncodedJson, JsonFault> {
  const checked = checkJson(value, limits);
  if (!checked.ok) return checked;
  try {
    return ok({ text: JSON.stringify(checked.value.value), repairs: checked.value.repairs });
  } catch (thrown) {
    return err({ kind: "throws", path: "$", detail: String(thrown) });
  }
}

/** `JSON.parse` that refuses what could not be saved again: too deep, too large, prototype keys. */
export function parseJson(text: string, limits: JsonLimits = JSON_LIMITS): Result<Json, JsonFault> {
  if (text.length > limits.characters) {
    return err({ kind: "too-large", path: "$", detail: `${text.length} characters, at most ${limits.characters}` });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (thrown) {
    return err({ kind: "not-parsable", path: "$", detail: (thrown as Error).message });
  }
  const checked = checkJson(parsed, limits);
  return checked.ok ? ok(checked.value.value) : checked;
}

interface Walk {
  readonly limits: JsonLimits;
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

function walkValue(walk: Walk, value: unknown): Json {
  switch (typeof value) {
    case "string":
      return walkText(walk, value);
    case "number":
      if (!Number.isFinite(value)) throw new Stop("not-json", `${value} has no JSON form`);
      if (Object.is(value, -0)) {
        repaired(walk, "negative-zero");
        return 0;
      }
      return value;
    case "boolean":
      return value;
    case "object":
      return value === null ? null : walkObject(walk, value);
    default:
      throw new Stop("not-json", `${typeof value} has no JSON form`);
  }
}

function walkText(walk: Walk, text: string): string {
  walk.room -= text.length;
  if (walk.room < 0) throw new Stop("too-large", `more than ${walk.limits.characters} characters`);
  if (text.isWellFormed()) return text;
  repaired(walk, "surrogate-replaced");
  return text.toWellFormed();
}

function walkObject(walk: Walk, value: object): Json {
  if (walk.parents.length >= walk.limits.depth) throw new Stop("too-deep", `more than ${walk.limits.depth} levels`);
  if (walk.parents.includes(value)) throw new Stop("cycle", "the value contains itself");
  walk.parents.push(value);
  const result = Array.isArray(value) ? walkArray(walk, value) : walkFields(walk, value);
  walk.parents.pop();
  return result;
}

function walkArray(walk: Walk, values: readonly unknown[]): Json {
  if ("toJSON" in values) throw new Stop("not-json", "toJSON would replace the array");
  let copy: Json[] | undefined;
  for (let index = 0; index < values.length; index += 1) {
    const before = values[index];
    walk.path.push(index);
    const after = walkValue(walk, before);
    walk.path.pop();
    if (copy === undefined && !Object.is(after, before)) copy = values.slice(0, index) as Json[];
    copy?.push(after);
  }
  return copy ?? (values as readonly Json[]);
}

function walkFields(walk: Walk, value: object): Json {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new Stop("not-json", `${prototypeName(prototype)} is not plain data`);
  }
  const source = value as Record<string, unknown>;
  let copy: Record<string, Json> | undefined;
  const keys = Object.keys(source);
  for (let index = 0; index < keys.length; index += 1) {
    const key = keys[index] as string;
    walk.path.push(key);
    if (key === "__proto__") throw new Stop("unsafe-key", "the key would change a prototype when copied");
    const before = source[key];
    // Two broken keys could repair to the same one, and a field would be lost.
    if (!key.isWellFormed()) throw new Stop("unsafe-key", "the key holds a lone surrogate");
    walk.room -= key.length;
    const after = before === undefined ? undefined : walkValue(walk, before);
    if (after === undefined) repaired(walk, "undefined-dropped");
    else if (
      key === "constructor" &&
      typeof after === "object" &&
      after !== null &&
      Object.hasOwn(after, "prototype")
    ) {
      throw new Stop("unsafe-key", "constructor.prototype would change a prototype when merged");
    }
    walk.path.pop();
    if (copy === undefined && (!Object.is(after, before) || after === undefined)) {
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

function repaired(walk: Walk, kind: JsonRepair["kind"]): void {
  walk.repairs.push({ kind, path: pathText(walk.path) });
}

function prototypeName(prototype: unknown): string {
  const maker = (prototype as { constructor?: { name?: unknown } }).constructor;
  return typeof maker?.name === "string" && maker.name !== "" ? maker.name : "an object with a prototype";
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
