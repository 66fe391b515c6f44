import { HoldfastError } from "../base/errors.ts";
import { encodeJson, type Json } from "../base/json.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import { applyDelta, type Delta, diff } from "./delta.ts";
import type { AnyPart, Part, SlicePolicy } from "./part.ts";

/** A change that was asked for, as data: which slice, which of its reducers, with what. */
export interface SliceEvent {
  readonly slice: string;
  readonly event: string;
  readonly payload: unknown;
}

type Reducer<T> = (now: T, payload: never) => T;
type Reducers<T> = Readonly<Record<string, Reducer<T>>>;
type PayloadOf<R> = R extends (now: never, ...rest: infer P) => unknown ? P : never;
type Creators<R> = { readonly [K in keyof R]: (...payload: PayloadOf<R[K]>) => SliceEvent };

export interface SliceDefinition<T, R extends Reducers<T>> {
  readonly initial: T;
  /** Default `state`: rolled back with a failed call. `log` is kept; `cache` is rolled back and may be recomputed. */
  readonly policy?: SlicePolicy;
  readonly on: R;
  /** Checked when a stored value is loaded. */
  readonly schema?: StandardSchema<T>;
  /** For `cache`: computes the value from the root's other slices when it is missing. */
  readonly recompute?: (read: <V>(slice: Slice<V>) => V) => T;
}

const definition = Symbol("holdfast.slice");

export interface SlicePart<T> extends Part<T> {
  readonly reduce: (now: T, event: SliceEvent) => T;
  readonly recompute?: (read: <V>(slice: Slice<V>) => V) => T;
}

/** A typed part of the session's state. Call its event makers, then `dispatch` what they return. */
export type Slice<T, C = unknown> = C & { readonly [definition]: SlicePart<T> };

export function defineSlice<T, const R extends Reducers<T>>(
  name: string,
  spec: SliceDefinition<T, R>,
): Slice<T, Creators<R>> {
  if (!/^[A-Za-z][\w.-]{0,99}$/.test(name))
    throw new HoldfastError("BAD_OPTION", { option: "slice name", value: name.slice(0, 80) });
  const creators: Record<string, (...payload: readonly unknown[]) => SliceEvent> = Object.create(null);
  for (const event of Object.keys(spec.on)) creators[event] = (payload?: unknown) => ({ slice: name, event, payload });
  const part: SlicePart<T> = {
    name,
    policy: spec.policy ?? "state",
    initial: spec.initial,
    encode: (value) => jsonOf(name, value),
    decode: (data) => loaded(name, data, spec.schema),
    change: (before, after) => {
      const delta = encodeJson(diff(before as Json, after as Json));
      if (!delta.ok)
        throw new HoldfastError("SLICE_NOT_JSON", { slice: name, path: delta.error.path, detail: delta.error.detail });
      const { value, repairs } = delta.value;
      return {
        delta: value,
        value: repairs.length === 0 ? after : (applyDelta(before as Json, value as unknown as Delta) as T),
      };
    },
    apply: (value, delta) => applyDelta(value as Json, delta as unknown as Delta) as T,
    reduce: (now, { event, payload }) => {
      const reducer = Object.hasOwn(spec.on, event) ? spec.on[event] : undefined;
      if (reducer === undefined) throw new HoldfastError("SLICE_EVENT_UNKNOWN", { slice: name, event });
      return reducer(now, payload as never);
    },
    ...(spec.recompute === undefined ? {} : { recompute: spec.recompute }),
  };
  return Object.assign(creators, { [definition]: part }) as unknown as Slice<T, Creators<R>>;
}

export function partOf<T>(slice: Slice<T>): SlicePart<T> {
  return slice[definition];
}

export function isSlice(part: AnyPart): part is AnyPart & SlicePart<unknown> {
  return "reduce" in part;
}

/** The reducers most slices need. `key` tells which element an update means. */
export const reducers = {
  append: <T>(now: readonly T[], element: T): readonly T[] => [...now, element],
  upsertBy:
    <T, K>(key: (element: T) => K) =>
    (now: readonly T[], element: T): readonly T[] => {
      const at = now.findIndex((other) => key(other) === key(element));
      return at === -1 ? [...now, element] : now.with(at, element);
    },
  replaceLatest: <T>(_now: readonly T[], element: T): readonly T[] => [element],
  replaceLatestBy:
    <T, K>(key: (element: T) => K) =>
    (now: readonly T[], element: T): readonly T[] => [...now.filter((other) => key(other) !== key(element)), element],
} as const;

/** A slice's value must survive the process; what JSON would change is the reducer's mistake, told with its place. */
function jsonOf(slice: string, value: unknown): Json {
  const encoded = encodeJson(value);
  if (!encoded.ok)
    throw new HoldfastError("SLICE_NOT_JSON", { slice, path: encoded.error.path, detail: encoded.error.detail });
  return encoded.value.value;
}

function loaded<T>(slice: string, data: Json, schema: StandardSchema<T> | undefined): T {
  if (schema === undefined) return data as T;
  const result = schema["~standard"].validate(data);
  if (result instanceof Promise)
    throw new HoldfastError("BAD_OPTION", { option: `schema of slice ${slice}`, value: "asynchronous" });
  if (result.issues !== undefined)
    throw new HoldfastError("SNAPSHOT_MISMATCH", { slice, issue: result.issues[0]?.message ?? "" });
  return result.value;
}
