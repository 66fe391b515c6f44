import { frozenCopy } from "../base/freeze.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { isObject, resolvedIn, withDefinitions } from "../base/schema-references.ts";

export interface ActionMask {
  readonly field: string;
  readonly allowed: readonly string[];
}

/** Where a schema holds further schemas of the same arguments. */
const UNIONS = ["oneOf", "anyOf"] as const;
const SINGLES = ["if", "then", "else"] as const;
const TABLES = ["$defs", "definitions"] as const;
/** What may name actions in a chooser. Its own words often list them, and would go on naming those that are gone. */
const NAMING: readonly string[] = ["enum", "const", "oneOf", "anyOf", "default", "examples", "description", "$ref"];

/**
 * The schema with only the allowed actions: branches of a union that choose another action go, and the argument that
 * chooses is narrowed wherever it stands. Whatever the schema said before, it now demands one of the allowed.
 */
export function maskActions(given: JsonObject, mask: ActionMask): JsonObject {
  const { field, allowed } = mask;
  const schema = withDefinitions(given); // some lead into branches that go, or past them
  const within = withoutUnused(masked(schema, mask, schema), mask);
  const properties = isObject(within["properties"]) ? within["properties"] : {};
  const required = Array.isArray(within["required"]) ? (within["required"] as readonly Json[]) : [];
  const chooser = { enum: [...allowed], ...narrowed(chooserIn(schema, field) ?? {}, mask) };
  return frozenCopy({
    ...within,
    properties: { ...properties, [field]: chooser },
    required: required.includes(field) ? required : [...required, field],
  });
}

function masked(schema: JsonObject, mask: ActionMask, root: JsonObject): JsonObject {
  const copy: Record<string, Json | undefined> = { ...schema };
  const inside = (value: Json): Json => (isObject(value) ? masked(value, mask, root) : value);
  if (Array.isArray(schema["allOf"])) copy["allOf"] = (schema["allOf"] as readonly Json[]).map(inside);
  for (const key of UNIONS)
    if (Array.isArray(schema[key]))
      copy[key] = (schema[key] as readonly Json[]).filter((one) => mayChoose(one, mask, root)).map(inside);
  for (const key of SINGLES) if (isObject(schema[key])) copy[key] = inside(schema[key]);
  for (const key of TABLES)
    if (isObject(schema[key]))
      copy[key] = Object.fromEntries(Object.entries(schema[key]).map(([name, one]) => [name, inside(one as Json)]));
  const chooser = chooserIn(schema, mask.field);
  if (chooser !== undefined)
    copy["properties"] = { ...(schema["properties"] as JsonObject), [mask.field]: narrowed(chooser, mask) };
  return copy;
}

/** Definitions of branches that went, as long as nothing else speaks of them: a loose reference is no schema. */
function withoutUnused(schema: JsonObject, mask: ActionMask): JsonObject {
  const copy: Record<string, Json | undefined> = { ...schema };
  for (const key of TABLES) {
    const table = schema[key];
    if (!isObject(table)) continue;
    const text = JSON.stringify(schema);
    const isNeeded = ([name, one]: readonly [string, Json | undefined]) =>
      one === undefined || mayChoose(one, mask, schema) || text.includes(`"#/${key}/${name}"`);
    copy[key] = Object.fromEntries(Object.entries(table).filter(isNeeded));
  }
  return copy;
}

/** Whether a branch leaves a choice that is allowed. One that says nothing of the choice does. */
function mayChoose(branch: Json, mask: ActionMask, root: JsonObject): boolean {
  const schema = isObject(branch) ? resolvedIn(root, branch) : undefined;
  const chooser = schema === undefined ? undefined : chooserIn(schema, mask.field);
  const values = chooser === undefined ? undefined : valuesOf(chooser);
  return values === undefined || values.some((value) => (mask.allowed as readonly Json[]).includes(value));
}

/** A choice that leaves nothing is left as it is: no provider takes an empty one, and the gate refuses it anyway. */
function narrowed(chooser: JsonObject, { allowed }: ActionMask): JsonObject {
  const values = valuesOf(chooser);
  const left = allowed.filter((action) => values?.includes(action) ?? true);
  if (left.length === 0) return chooser;
  const kept = Object.entries(chooser).filter(([key]) => !NAMING.includes(key));
  return { ...Object.fromEntries(kept), enum: left };
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
