import { HoldfastError } from "../base/errors.ts";
import { checkJson, type Json, KEPT_LIMITS } from "../base/json.ts";
import { ANYTHING, checkOptions, FUNCTION, OBJECT, type OptionRules, oneOf, STANDARD_SCHEMA } from "../base/options.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import { byDifference } from "./delta.ts";
import { type AnyPart, type Part, SLICE_POLICIES, type SlicePolicy } from "./part.ts";
import { issuesText } from "./schema-issues.ts";

/** A change to a slice, as data: which slice, which of its reducers, with what payload. */
export interface SliceEvent {
  readonly slice: string;
  readonly event: string;
  readonly payload: unknown;
}

type Reducer<T> = (now: T, payload: never) => T;
type Reducers<T> = Readonly<Record<string, Reducer<T>>>;
type PayloadOf<R> = R extends (now: never, ...rest: infer P) => unknown ? P : never;
type Creators<R> = { readonly [K in keyof R]: (...payload: PayloadOf<R[K]>) => SliceEvent };

/** How a cache reads the slices it is computed from. */
type ReadSlice = <V>(slice: Slice<V>) => V;

/** What `defineSlice` needs. */
export interface SliceDefinition<T, R extends Reducers<T>> {
  /** The first value. It must be plain JSON. */
  readonly initial: T;
  /** `state` (default): rolled back with a failed call. `log`: kept. `cache`: rolled back, and may be recomputed. */
  readonly policy?: SlicePolicy;
  /**
   * The reducers, by event name: each makes the next value from the current one and a payload, without changing either.
   */
  readonly on: R;
  /** Checks the value whenever it changes or is read back. It must be synchronous. */
  readonly schema?: StandardSchema<T>;
  /** For `cache`: computes the value from other slices when it is missing. */
  readonly recompute?: (read: ReadSlice) => T;
}

/** Of a policy that is none nobody would know whether a failed call's changes stay. */
const SLICE_OPTIONS: OptionRules<SliceDefinition<unknown, Reducers<unknown>>> = {
  initial: ANYTHING,
  policy: oneOf(...SLICE_POLICIES),
  on: { wants: "an object of reducers, each a function", fits: areReducers },
  schema: STANDARD_SCHEMA,
  recompute: FUNCTION,
};

const definition = Symbol("holdfast.slice");

export interface SlicePart<T> extends Part<T> {
  readonly reduce: (now: T, event: SliceEvent) => T;
  /** A whole value from outside, checked; throws a typed error otherwise. */
  readonly admit: (value: T) => T;
  readonly recompute?: (read: ReadSlice) => T;
}

/** A typed part of session state. Its event makers, one per reducer, return events to `dispatch`. */
export type Slice<T, C = unknown> = C & { readonly [definition]: SlicePart<T> };

/** A slice with any value, e.g. in a list of slices. */
export type AnySlice = { readonly [definition]: Pick<SlicePart<unknown>, "name" | "policy"> };

/** Makes a slice: `defineSlice("steps", { initial: [], on: { added: (now, step: string) => [...now, step] } })`. */
export function defineSlice<T, const R extends Reducers<T>>(
  name: string,
  spec: SliceDefinition<T, R>,
): Slice<T, Creators<R>> {
  if (!/^[A-Za-z][\w.-]{0,99}$/.test(name))
    throw new HoldfastError("BAD_OPTION", { option: "slice name", value: String(name).slice(0, 80) });
  checkOptions(spec as unknown as SliceDefinition<unknown, Reducers<unknown>>, SLICE_OPTIONS, ["on"]);
  const initial = jsonOf(name, spec.initial);
  validated(name, initial, spec.schema);
  const part: SlicePart<T> = {
    name,
    policy: spec.policy ?? "state",
    initial: initial as T,
    plain: true,
    encode: (value) => value as Json, // checked when it came in
    decode: (data) => validated(name, data, spec.schema),
    admit: (value) => validated(name, jsonOf(name, value), spec.schema),
    // Only what is new is checked: what both values share was checked when it came in. But a schema judges the whole, and
    // what it does not let pass now could be read by no process later: the session would be closed for ever.
    accept: (before, after) => {
      const data = jsonOf(name, after, before as Json);
      if (data !== before) validated(name, data, spec.schema);
      return data as T;
    },
    ...(byDifference() as Pick<Part<T>, "change" | "apply">), // of what is JSON, whatever its type says
    reduce: (now, { event, payload }) => {
      const reducer = Object.hasOwn(spec.on, event) ? spec.on[event] : undefined;
      if (reducer === undefined) throw new HoldfastError("SLICE_EVENT_UNKNOWN", { slice: name, event });
      return reducer(now, payload as never);
    },
    ...(spec.recompute === undefined ? {} : { recompute: spec.recompute }),
  };
  return Object.assign(makersOf(name, Object.keys(spec.on)), { [definition]: part }) as unknown as Slice<
    T,
    Creators<R>
  >;
}

export function partOf<T>(slice: Slice<T>): SlicePart<T> {
  return slice[definition];
}

export function anyPartOf(slice: AnySlice): AnyPart {
  return slice[definition] as AnyPart;
}

/** Whether something was made by `defineSlice`. */
export function isDefinedSlice(value: object): value is AnySlice {
  return definition in value;
}

export function isSlice(part: AnyPart): part is AnyPart & SlicePart<unknown> {
  return "reduce" in part;
}

function areReducers(on: unknown): boolean {
  return OBJECT.fits(on) && Object.values(on as object).every((reducer) => FUNCTION.fits(reducer));
}

function makersOf(slice: string, events: readonly string[]): object {
  const makers: Record<string, (payload?: unknown) => SliceEvent> = Object.create(null);
  for (const event of events) makers[event] = (payload) => ({ slice, event, payload });
  return makers;
}

/** A slice's value must survive the process; what JSON would change is a mistake, told with its place. */
function jsonOf(slice: string, value: unknown, known?: Json): Json {
  const checked = checkJson(value, KEPT_LIMITS, known);
  if (!checked.ok)
    throw new HoldfastError("SLICE_NOT_JSON", { slice, path: checked.error.path, detail: checked.error.detail });
  return checked.value.value;
}

/** A long list that fits nowhere is told by its beginning. */
const MOST_ISSUES = 3;

function validated<T>(slice: string, data: Json, schema: StandardSchema<T> | undefined): T {
  if (schema === undefined) return data as T;
  const result = schema["~standard"].validate(data);
  if (result instanceof Promise)
    throw new HoldfastError("BAD_OPTION", { option: `schema of slice ${slice}`, value: "asynchronous" });
  if (result.issues !== undefined)
    throw new HoldfastError("SLICE_INVALID", { slice, issue: issuesText(result.issues.slice(0, MOST_ISSUES)) });
  // A schema may transform: what it makes must survive the process, too.
  return jsonOf(slice, result.value) as T;
}
