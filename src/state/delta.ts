import { changedFields, goneFields, movedFields } from "../base/field-differences.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { differencesOf } from "../base/list-differences.ts";
import { textDifferenceOf } from "../base/text-difference.ts";
import type { Part } from "./part.ts";

/** Where a change lies: keys and indices from the outside in. */
type Path = readonly (string | number)[];

/**
 * One step that turns a value into the next, as data. A splice covers append, insert, remove and replace in a list, and
 * an edit the same in a long text.
 * Small changes to large values stay small, because equal references are not compared any further.
 */
export type Change =
  | { readonly set: Path; readonly to: Json }
  | { readonly unset: Path }
  | { readonly splice: Path; readonly at: number; readonly remove: number; readonly insert: readonly Json[] }
  | { readonly edit: Path; readonly at: number; readonly remove: number; readonly insert: string };

/** The changes that turn one value into the next. */
export type Delta = readonly Change[];

/**
 * The changes from one value to another, both plain data. Cost follows what changed and the width of the containers on the
 * way there.
 */
export function diff(before: Json, after: Json): Delta {
  const changes: Change[] = [];
  diffAt(before, after, [], changes);
  return changes;
}

export function applyDelta(value: Json, delta: Delta): Json {
  const application = new Application();
  return delta.reduce<Json>((now, change) => application.take(now, change), value);
}

/** For parts whose values are plain data: their changes are differences of it. */
export function byDifference<V extends Json>(): Pick<Part<V>, "change" | "apply"> {
  return {
    change: (before, after) => {
      const delta = diff(before, after);
      return delta.length === 0 ? undefined : { delta: delta as unknown as Json };
    },
    apply: (value, delta) => applyDelta(value, delta as unknown as Delta) as V,
  };
}

function diffAt(before: Json | undefined, after: Json, path: Path, changes: Change[]): void {
  if (before === after) return;
  if (isList(before) && isList(after)) diffLists(before, after, path, changes);
  else if (isObject(before) && isObject(after)) diffObjects(before, after, path, changes);
  else if (isLongText(before) && isLongText(after)) changes.push(textChange(before, after, path));
  else changes.push({ set: path, to: after });
}

/** An edit, where it is shorter than the text by enough to be worth it. */
function textChange(before: string, after: string, path: Path): Change {
  const { at, remove, insert } = textDifferenceOf(before, after);
  return 2 * insert.length < after.length ? { edit: path, at, remove, insert } : { set: path, to: after };
}

/** From left to right: what lies before a difference is already as it will be, so its place is that in the list after. */
function diffLists(before: readonly Json[], after: readonly Json[], path: Path, changes: Change[]): void {
  for (const { was, is } of differencesOf(before, after)) {
    const [remove, at] = [was.to - was.from, is.from];
    if (remove === is.to - at) {
      for (let step = 0; step < remove; step += 1)
        diffAt(before[was.from + step], after[at + step] as Json, [...path, at + step], changes);
    } else {
      changes.push({ splice: path, at, remove, insert: after.slice(at, is.to) });
    }
  }
}

/** One that moved goes, and comes again behind the others: whoever reads it back finds its fields in the same order. */
function diffObjects(before: JsonObject, after: JsonObject, path: Path, changes: Change[]): void {
  const [changed, moved] = [changedFields(before, after), movedFields(before, after)];
  for (const key of [...goneFields(before, after, changed), ...moved]) changes.push({ unset: [...path, key] });
  const again = new Set(moved);
  for (const key of moved.length === 0 ? changed : inOrderOf(after, [...changed, ...moved])) {
    const [then, value] = [again.has(key) ? undefined : own(before, key), own(after, key)];
    if (value !== undefined) diffAt(then, value, [...path, key], changes);
    else if (then !== undefined) changes.push({ unset: [...path, key] });
  }
}

function inOrderOf(value: JsonObject, keys: readonly string[]): readonly string[] {
  const wanted = new Set(keys);
  return Object.keys(value).filter((key) => wanted.has(key));
}

/** Takes in the changes of one delta. Each container is copied once: copied for each change, many would cost the square. */
class Application {
  /** Copies that nobody else holds. */
  readonly #own = new Set<object>();

  take(value: Json, change: Change): Json {
    if ("set" in change) return this.#replaceAt(value, change.set, 0, () => change.to);
    if ("unset" in change) {
      const { unset } = change;
      return this.#replaceAt(value, unset.slice(0, -1), 0, (parent) => this.#without(parent, String(unset.at(-1))));
    }
    if ("edit" in change)
      return this.#replaceAt(value, change.edit, 0, (text) => {
        if (typeof text !== "string") throw new TypeError("an edit needs a text");
        return text.slice(0, change.at) + change.insert + text.slice(change.at + change.remove);
      });
    return this.#replaceAt(value, change.splice, 0, (list) => {
      if (!isList(list)) throw new TypeError("a splice needs a list");
      const { at, remove, insert } = change;
      // As arguments of a call a long list is too many for the stack: what was written could not be read again.
      return this.#owned([...list.slice(0, at), ...insert, ...list.slice(at + remove)]);
    });
  }

  /** Copies the containers along the path and nothing else. */
  #replaceAt(value: Json | undefined, path: Path, depth: number, replace: (value: Json | undefined) => Json): Json {
    if (depth === path.length) return replace(value);
    const step = path[depth] as string | number;
    if (isList(value) && typeof step === "number" && step < value.length) {
      const next = this.#replaceAt(value[step], path, depth + 1, replace);
      const list = this.#own.has(value) ? (value as Json[]) : this.#owned([...value]);
      list[step] = next;
      return list;
    }
    if (isObject(value) && step !== "__proto__") {
      const next = this.#replaceAt(own(value, String(step)), path, depth + 1, replace);
      const fields = this.#own.has(value) ? (value as Record<string, Json>) : this.#owned({ ...value });
      fields[step] = next;
      return fields;
    }
    throw new TypeError(`nothing to change at ${path.join(".")}`);
  }

  #without(parent: Json | undefined, key: string): Json {
    if (!isObject(parent)) throw new TypeError("only a field can be unset");
    if (this.#own.has(parent)) {
      Reflect.deleteProperty(parent, key);
      return parent;
    }
    const { [key]: _, ...rest } = parent;
    return this.#owned(rest);
  }

  #owned<C extends object>(copy: C): C {
    this.#own.add(copy);
    return copy;
  }
}

/** A field called `toString` is not there only because every object inherits one. */
function own(value: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A short one is said again as quickly as what became of it. */
function isLongText(value: Json | undefined): value is string {
  return typeof value === "string" && value.length >= 256;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
