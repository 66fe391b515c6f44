import type { Json, JsonObject, SchemaResult, StandardSchema } from "../index.ts";

/** One argument of a tool: what a model reads of it, and what is wrong with a value, if anything. */
export interface Argument<T> {
  readonly schema: JsonObject;
  readonly fault: (value: unknown) => string | undefined;
  readonly optional?: true;
  /** Carries the type only; never present at run time. */
  readonly type?: T;
}

type Arguments = Readonly<Record<string, Argument<unknown>>>;
type Optional<A> = { [K in keyof A]: A[K] extends { readonly optional: true } ? K : never }[keyof A];
type TypeOf<A> = A extends Argument<infer T> ? T : never;
export type InputOf<A> = { readonly [K in Exclude<keyof A, Optional<A>>]: TypeOf<A[K]> } & {
  readonly [K in Optional<A>]?: TypeOf<A[K]>;
};

export function text(description: string): Argument<string> {
  return {
    schema: { type: "string", description },
    fault: (value) => (typeof value === "string" ? undefined : "must be a string"),
  };
}

export function flag(description: string): Argument<boolean> {
  return {
    schema: { type: "boolean", description },
    fault: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
  };
}

/** A whole number between two bounds, both included. */
export function whole(description: string, least: number, most: number): Argument<number> {
  const fits = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return {
    schema: { type: "integer", minimum: least, maximum: most, description },
    fault: (value) => (fits(value) ? undefined : `must be a whole number from ${least} to ${most}`),
  };
}

export function listOf<T>(description: string, each: Argument<T>, least = 0): Argument<readonly T[]> {
  return {
    schema: { type: "array", items: each.schema, ...(least === 0 ? {} : { minItems: least }), description },
    fault: (value) => {
      if (!Array.isArray(value)) return "must be a list";
      if (value.length < least) return `must have at least ${least}`;
      for (const [at, one] of value.entries()) {
        const fault = each.fault(one);
        if (fault !== undefined) return `[${at}] ${fault}`;
      }
      return undefined;
    },
  };
}

export function optional<T>(argument: Argument<T>): Argument<T> & { readonly optional: true } {
  return { ...argument, optional: true };
}

export function fields<const A extends Arguments>(args: A): Argument<InputOf<A>> {
  return { schema: schemaOf(args), fault: (value) => faultIn(args, value) };
}

/** What `defineTool` asks for: the check, and the schema that tells a model the same. */
export function argumentsOf<const A extends Arguments>(
  args: A,
): { readonly input: StandardSchema<InputOf<A>>; readonly inputSchema: JsonObject } {
  const validate = (value: unknown): SchemaResult<InputOf<A>> => {
    const message = faultIn(args, value ?? {});
    return message === undefined ? { value: (value ?? {}) as InputOf<A> } : { issues: [{ message }] };
  };
  return { input: { "~standard": { version: 1, vendor: "holdfast", validate } }, inputSchema: schemaOf(args) };
}

function schemaOf(args: Arguments): JsonObject {
  const properties = Object.fromEntries(Object.entries(args).map(([name, { schema }]) => [name, schema as Json]));
  const required = Object.entries(args).flatMap(([name, { optional: free }]) => (free === true ? [] : [name]));
  return { type: "object", properties, required, additionalProperties: false };
}

/** A misspelt argument is named together with those there are: a model then gets it right the second time. */
function faultIn(args: Arguments, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(args, name));
  if (unknown.length > 0)
    return `there is no argument ${unknown.join(", ")}; there are: ${Object.keys(args).join(", ")}`;
  for (const [name, argument] of Object.entries(args)) {
    const one = given[name];
    if (one === undefined && argument.optional === true) continue;
    const fault = one === undefined ? "is missing" : argument.fault(one);
    if (fault !== undefined) return `${name} ${fault}`;
  }
  return undefined;
}
