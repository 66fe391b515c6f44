import type { Json, JsonObject } from "../base/json.ts";

/** A check of stored data that is also its type: the two cannot drift apart. */
export interface Shape<T> {
  /** The first thing that is wrong, as `field: reason`, or nothing. Fields the shape does not name are kept, never refused. */
  readonly fault: (value: Json | undefined, path: string) => string | undefined;
  readonly optional?: true;
  /** Of the fields that it knows. */
  readonly names?: ReadonlySet<string>;
  /** Carries the type only; never present at run time. */
  readonly type?: T;
}

export type TypeOf<S> = S extends Shape<infer T> ? T : never;

type OptionalKeys<F> = { [K in keyof F]: F[K] extends { readonly optional: true } ? K : never }[keyof F];
export type FieldsOf<F> = { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: TypeOf<F[K]> } & {
  readonly [K in OptionalKeys<F>]?: TypeOf<F[K]>;
};

const is = <T>(what: string, test: (value: Json | undefined) => boolean): Shape<T> => ({
  fault: (value, path) => (test(value) ? undefined : `${path} must be ${what}`),
});

export const string: Shape<string> = is("a string", (value) => typeof value === "string");
export const boolean: Shape<boolean> = is("true or false", (value) => typeof value === "boolean");
export const count: Shape<number> = is(
  "a whole number from 0",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
export const json: Shape<Json> = is("present", (value) => value !== undefined);

/** Branded strings: checked as text, typed by their brand. */
export const branded = <T extends string>(): Shape<T> => string as unknown as Shape<T>;

/** A branded string with a form that is checked: whoever uses it later may build a path from it. */
export const matching = <T extends string>(what: string, test: (text: string) => boolean): Shape<T> =>
  is(what, (value) => typeof value === "string" && test(value));

export const oneOf = <const T extends string>(...values: readonly T[]): Shape<T> =>
  is(`one of ${values.join(", ")}`, (value) => (values as readonly Json[]).includes(value as Json));

export function optional<T>(shape: Shape<T>): Shape<T> & { readonly optional: true } {
  return { optional: true, fault: (value, path) => (value === undefined ? undefined : shape.fault(value, path)) };
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    fault: (value, path) => {
      if (!Array.isArray(value)) return `${path} must be a list`;
      for (const [index, element] of value.entries()) {
        const fault = shape.fault(element as Json, `${path}[${index}]`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

export function fields<const F extends Record<string, Shape<unknown>>>(
  shapes: F,
): Shape<FieldsOf<F>> & { readonly names: ReadonlySet<string> } {
  const entries = Object.entries(shapes);
  return {
    names: new Set(Object.keys(shapes)),
    fault: (value, path) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return `${path} must be an object`;
      for (const [name, shape] of entries) {
        const fault = shape.fault((value as JsonObject)[name], path === "" ? name : `${path}.${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}
