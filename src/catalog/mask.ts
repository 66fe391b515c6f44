import { frozenCopy } from "../base/freeze.ts";
import type { Json, JsonObject } from "../base/json.ts";

export interface ActionMask {
  readonly field: string;
  readonly allowed: readonly string[];
}

/**
 * The schema with only the allowed actions: branches of a union that choose another action go, and the argument that
 * chooses is narrowed where it stands. Whatever the schema said before, it now names no other action.
 */
export function maskActions(schema: JsonObject, mask: ActionMask): JsonObject {
  const narrowed: Record<string, Json> = {};
  for (const [key, value] of Object.entries(schema)) if (value !== undefined) narrowed[key] = value;
  for (const union of ["oneOf", "anyOf"] as const) {
    const branches = schema[union];
    if (!Array.isArray(branches)) continue;
    narrowed[union] = (branches as readonly Json[])
      .filter((branch) => !isObject(branch) || choosesAllowed(branch, mask))
      .map((branch) =>
        isObject(branch) && chooserIn(branch, mask.field) !== undefined ? narrow(branch, mask) : branch,
      );
  }
  return frozenCopy(narrow(narrowed, mask));
}

function narrow(schema: JsonObject, { field, allowed }: ActionMask): JsonObject {
  const chooser = chooserIn(schema, field);
  const kept: Record<string, Json> = {};
  // Its own words often list the actions, and would go on naming those that are gone.
  for (const [key, value] of Object.entries(chooser ?? {}))
    if (value !== undefined && !["enum", "const", "oneOf", "anyOf", "default", "description"].includes(key))
      kept[key] = value;
  const own = chooser === undefined ? allowed : allowed.filter((action) => valuesOf(chooser)?.includes(action) ?? true);
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly Json[]) : [];
  return {
    ...schema,
    properties: { ...properties, [field]: { ...kept, enum: [...own] } },
    required: required.includes(field) ? required : [...required, field],
  };
}

function choosesAllowed(branch: JsonObject, { field, allowed }: ActionMask): boolean {
  const chooser = chooserIn(branch, field);
  const values = chooser === undefined ? undefined : valuesOf(chooser);
  return values === undefined || values.some((value) => (allowed as readonly Json[]).includes(value));
}

function chooserIn(schema: JsonObject, field: string): JsonObject | undefined {
  const { properties } = schema;
  const chooser = isObject(properties) && Object.hasOwn(properties, field) ? properties[field] : undefined;
  return isObject(chooser) ? chooser : undefined;
}

function valuesOf(chooser: JsonObject): readonly Json[] | undefined {
  if (Object.hasOwn(chooser, "const")) return [chooser["const"] as Json];
  return Array.isArray(chooser["enum"]) ? (chooser["enum"] as readonly Json[]) : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
