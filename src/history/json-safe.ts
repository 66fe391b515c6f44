import type { Json } from "../base/json.ts";

/** What a record may hold of somebody's value. */
export interface SafeLimits {
  readonly depth: number;
  /** Elements of a list, fields of an object. */
  readonly entries: number;
  /** Characters of one text. */
  readonly text: number;
  /** Values in all. */
  readonly values: number;
}

export const RECORD_LIMITS: SafeLimits = { depth: 8, entries: 64, text: 2_000, values: 512 };

export interface Safe {
  readonly value: Json;
  /** Where something else stands than was given, as `$.a[2]`. */
  readonly coerced: readonly string[];
}

/**
 * Any value as bounded JSON. Field by field: what has no JSON form, or is too much of it, is told in words in its place,
 * and the rest of the value stays as it was.
 */
export function jsonSafe(value: unknown, limits: SafeLimits = RECORD_LIMITS, path = "$"): Safe {
  const walk = new Walk(limits);
  return { value: walk.value(value, path, 0), coerced: walk.coerced };
}

class Walk {
  readonly coerced: string[] = [];
  readonly #limits: SafeLimits;
  readonly #above = new Set<object>();
  #left: number;

  constructor(limits: SafeLimits) {
    this.#limits = limits;
    this.#left = limits.values;
  }

  value(value: unknown, path: string, depth: number): Json {
    this.#left -= 1;
    switch (typeof value) {
      case "string":
        return this.#text(value, path);
      case "number":
        return Number.isFinite(value)
          ? Object.is(value, -0)
            ? this.#coerce(path, 0)
            : value
          : this.#coerce(path, String(value));
      case "boolean":
        return value;
      case "object":
        return value === null ? null : this.#object(value, path, depth);
      default:
        return this.#coerce(path, wordsFor(value));
    }
  }

  #text(text: string, path: string): Json {
    const whole = text.isWellFormed() ? text : this.#coerce(path, text.toWellFormed());
    if (whole.length <= this.#limits.text) return whole;
    const kept = whole.slice(0, this.#limits.text).toWellFormed();
    return this.#coerce(path, `${kept}… (${whole.length - this.#limits.text} more characters)`);
  }

  /** A getter, or a proxy, may throw while it is read: its field says so, and the others are read. */
  #object(value: object, path: string, depth: number): Json {
    if (this.#above.has(value)) return this.#coerce(path, "[a circle]");
    if (depth >= this.#limits.depth) return this.#coerce(path, "[nested too deep]");
    this.#above.add(value);
    try {
      if (Array.isArray(value)) return this.#list(value, path, depth);
      if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
        return this.#coerce(path, this.value((value as { toJSON: () => unknown }).toJSON(), path, depth + 1));
      }
      if (isPlain(value)) return this.#fields(value, path, depth);
      return this.#coerce(path, wordsFor(value));
    } catch {
      return this.#coerce(path, "[cannot be read]");
    } finally {
      this.#above.delete(value);
    }
  }

  #list(list: readonly unknown[], path: string, depth: number): Json {
    const kept: Json[] = [];
    for (let at = 0; at < list.length; at += 1) {
      if (at >= this.#limits.entries || this.#left <= 0) {
        this.coerced.push(`${path}[${at}]`);
        return [...kept, `[${list.length - at} more]`];
      }
      kept.push(this.value(list[at], `${path}[${at}]`, depth + 1));
    }
    return kept;
  }

  #fields(fields: object, path: string, depth: number): Json {
    const kept = new Map<string, Json>();
    const names = Object.keys(fields);
    for (const [at, name] of names.entries()) {
      if (at >= this.#limits.entries || this.#left <= 0) {
        kept.set("…", this.#coerce(path, `[${names.length - at} more]`));
        break;
      }
      const inside = `${path}.${name.slice(0, 80)}`;
      kept.set(this.#name(name, inside), this.#field(fields, name, inside, depth));
    }
    return Object.fromEntries(kept); // defines, never assigns: a field called __proto__ stays a field
  }

  #field(fields: object, name: string, path: string, depth: number): Json {
    let value: unknown;
    try {
      value = (fields as Record<string, unknown>)[name];
    } catch {
      return this.#coerce(path, "[cannot be read]");
    }
    return this.value(value, path, depth + 1);
  }

  #name(name: string, path: string): string {
    if (name.length <= 200 && name.isWellFormed()) return name;
    this.coerced.push(path);
    return name.slice(0, 200).toWellFormed();
  }

  #coerce<T extends Json>(path: string, instead: T): T {
    this.coerced.push(path);
    return instead;
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function wordsFor(value: unknown): string {
  if (typeof value === "bigint") return value.toString().slice(0, 200);
  if (typeof value === "function") return "[a function]";
  if (typeof value === "object") return `[${Object.prototype.toString.call(value).slice(8, -1)}]`;
  return value === undefined ? "[undefined]" : `[${typeof value}]`;
}
