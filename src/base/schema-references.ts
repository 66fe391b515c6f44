import type { Json, JsonObject } from "./json.ts";

/** Follows a reference into the schema itself, one step. One that leads nowhere stands for itself. */
export function resolvedIn(root: JsonObject, schema: JsonObject): JsonObject {
  const target = targetOf(root, schema["$ref"]);
  return isObject(target) ? target : schema;
}

/**
 * A schema whose references all lead to definitions, wherever they led before. Whoever changes the schema around them
 * would take away what they lead to, or put another in its place. A schema of which that is true comes back as it is.
 */
export function withDefinitions(schema: JsonObject): JsonObject {
  const names = new Map<string, string>();
  const made: Record<string, Json> = {};
  const defined = isObject(schema["$defs"]) ? schema["$defs"] : {};

  function settled(value: Json): Json {
    if (Array.isArray(value)) return unlessSame(value, value.map(settled as (one: unknown) => Json));
    if (!isObject(value)) return value;
    const inside = Object.entries(value).map(([key, one]) => [key, one === undefined ? one : settled(one)] as const);
    const same = inside.every(([key, one]) => one === value[key]);
    const copy = same ? value : Object.fromEntries(inside);
    const { $ref: to } = value;
    const target = typeof to === "string" && !isDefinition(to) ? targetOf(schema, to) : undefined;
    return target === undefined ? copy : { ...copy, $ref: `#/$defs/${nameOf(to as string, target)}` };
  }

  function nameOf(pointer: string, target: Json): string {
    const known = names.get(pointer);
    if (known !== undefined) return known;
    const wanted = pointer.replace("#/", "").replaceAll(/[^A-Za-z0-9_]/g, "_");
    let name = wanted;
    for (let nth = 2; Object.hasOwn(defined, name) || Object.hasOwn(made, name); nth += 1) name = `${wanted}_${nth}`;
    names.set(pointer, name);
    made[name] = target; // its place is taken before it is looked into: it may hold itself
    made[name] = settled(target);
    return name;
  }

  const whole = settled(schema) as JsonObject;
  return names.size === 0 ? schema : { ...whole, $defs: { ...(whole["$defs"] as JsonObject | undefined), ...made } };
}

/** The schema as a whole, which stays where it is, or one of its definitions. */
function isDefinition(pointer: string): boolean {
  return pointer === "#" || /^#\/(\$defs|definitions)\/[^/]+$/.test(pointer);
}

/** What a reference into the schema leads to, as JSON Pointers are read. */
function targetOf(root: JsonObject, pointer: Json | undefined): Json | undefined {
  if (typeof pointer !== "string" || !/^#(\/|$)/.test(pointer)) return undefined;
  let at: Json | undefined = root;
  for (const step of pointer.split("/").slice(1)) {
    if (typeof at !== "object" || at === null) return undefined;
    const key = plainStep(step);
    at = Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined;
  }
  return at;
}

function plainStep(step: string): string {
  const decoded = step.replaceAll(/(%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"),
  );
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

function unlessSame(before: readonly Json[], after: readonly Json[]): readonly Json[] {
  return after.every((one, at) => one === before[at]) ? before : after;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
