import { types } from "node:util";
import { changedFields } from "./field-differences.ts";
import { differencesOf } from "./list-differences.ts";

interface Limits {
  readonly characters: number;
  readonly depth: number;
}

/**
 * Whether a value is plain data, with nothing to repair, that certainly fits: nearly every one is, and every value of a state
 * passes here. In any doubt false: then it is walked, and told where it is at fault.
 */
export function isPlain(value: unknown, known: unknown, { characters, depth }: Limits): boolean {
  try {
    return roomAfter(value, known, characters, depth) >= 0;
  } catch {
    return false; // something of the caller's threw, and will again
  }
}

const IN_DOUBT = -1;

/** Characters that are left when a value has taken as many as it can at most. */
function roomAfter(value: unknown, known: unknown, room: number, depth: number): number {
  switch (typeof value) {
    case "string":
      if (value === known) return room;
      return value.isWellFormed() ? room - value.length * LONGEST_ESCAPE - 2 : IN_DOUBT;
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0) ? room - LONGEST_NUMBER : IN_DOUBT;
    case "boolean":
      return room - 5;
    case "object":
      if (value === null) return room - 4;
      if (value === known) return room;
      if (depth === 0 || types.isProxy(value) || Object.getOwnPropertySymbols(value).length > 0) return IN_DOUBT;
      return Array.isArray(value)
        ? roomAfterList(
            value,
            Array.isArray(known) ? (known as readonly unknown[]) : NOTHING_KNOWN,
            room - 2,
            depth - 1,
          )
        : roomAfterFields(value as Fields, isObject(known) ? (known as Fields) : NO_FIELDS, room - 2, depth - 1);
    default:
      return IN_DOUBT;
  }
}

function roomAfterList(values: readonly unknown[], known: readonly unknown[], before: number, depth: number): number {
  if (Object.getPrototypeOf(values) !== Array.prototype || "toJSON" in values) return IN_DOUBT;
  let room = before;
  for (const { was, is } of differencesOf(known, values)) {
    const aligned = was.to - was.from === is.to - is.from;
    room -= is.to - is.from;
    for (let index = is.from; index < is.to && room >= 0; index += 1) {
      if (!isData(values, index)) return IN_DOUBT;
      room = roomAfter(values[index], aligned ? known[was.from + index - is.from] : undefined, room, depth);
    }
  }
  return room < 0 || hasMoreThanElements(values, known) ? IN_DOUBT : room;
}

function roomAfterFields(source: Fields, known: Fields, before: number, depth: number): number {
  const prototype: unknown = Object.getPrototypeOf(source);
  if (prototype !== Object.prototype && prototype !== null) return IN_DOUBT;
  const keys = known === NO_FIELDS ? Object.keys(source) : changedFields(known, source);
  let room = before;
  for (let index = 0; index < keys.length && room >= 0; index += 1) {
    const key = keys[index] as string;
    if (key === "__proto__" || key === "constructor" || !key.isWellFormed() || !isData(source, key)) return IN_DOUBT;
    room = roomAfter(source[key], known[key], room - key.length * LONGEST_ESCAPE - 4, depth);
  }
  return room;
}

type Fields = Readonly<Record<string, unknown>>;
export const NO_FIELDS: Fields = {};

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Counting the fields of a list costs more than most changes to it; what carries some, as a match of a pattern, is short. */
export function hasMoreThanElements(values: readonly unknown[], known: readonly unknown[]): boolean {
  const counted = known.length === 0 || values.length <= SHORT_LIST;
  return counted && Object.keys(values).length > values.length;
}

/** False for a getter: it may answer differently when it is read again, so its first answer is copied. */
export function isData(value: object, key: string | number): boolean {
  return lookupGetter.call(value, key) === undefined;
}

/** Old, but it makes no descriptor for every field of every value. */
const { __lookupGetter__: lookupGetter } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: string | number) => unknown;
};

export const NOTHING_KNOWN: readonly unknown[] = [];
const SHORT_LIST = 8;
export const LONGEST_NUMBER: number = "-1.2345678901234567e-300".length;
export const LONGEST_ESCAPE: number = "\\u0000".length;
