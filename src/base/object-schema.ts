import type { Json, JsonObject } from "./json.ts";
import { isObject, resolvedIn, withDefinitions } from "./schema-references.ts";

/** What a schema may be at its root instead of saying its properties itself. Providers refuse all of it there. */
const AT_THE_ROOT = ["oneOf", "anyOf", "allOf", "$ref", "not", "enum", "const"] as const;

/**
 * A schema as the one object that providers take: a union, an intersection or a reference at the root becomes the
 * properties of all its parts, of which it demands what each of its forms demands. The forms are told in words. It may
 * let more pass than before, so whoever takes the arguments checks them. A schema that is such an object comes back as
 * it is.
 */
export function objectSchema(given: JsonObject): JsonObject {
  if (!isCombined(given)) return given;
  const schema = withDefinitions(given); // some lead into the union, which goes
  const { properties, required, isClosed, forms } = shapeOf(schema, {
    root: schema,
    within: [],
    shapes: new Map(),
    objects: new Map(),
  });
  const told = [schema["description"], formsText(forms)].filter((text) => typeof text === "string");
  const kept = Object.entries(schema).filter(([key]) => !(AT_THE_ROOT as readonly string[]).includes(key));
  return {
    ...Object.fromEntries(kept),
    ...(told.length === 0 ? {} : { description: told.join(" ") }),
    type: "object",
    properties,
    ...(required.length === 0 ? {} : { required }),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

/** Whether its root is anything but an object that names its own properties. */
export function isCombined(schema: JsonObject): boolean {
  const { type } = schema;
  return (type !== undefined && type !== "object") || AT_THE_ROOT.some((key) => Object.hasOwn(schema, key));
}

/** What an object may hold. `forms`: the shapes it chooses among, if it does. */
interface Shape {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** It takes no other properties. */
  readonly isClosed: boolean;
  readonly forms: readonly Shape[];
}

interface Place {
  readonly root: JsonObject;
  /** What stands around it: a definition that holds itself is looked at once. */
  readonly within: readonly JsonObject[];
  /** What was found of each part. Definitions that refer to each other many times over would take for ever without it. */
  readonly shapes: Map<JsonObject, Shape>;
  readonly objects: Map<JsonObject, boolean>;
}

const NOTHING: Shape = { properties: {}, required: [], isClosed: false, forms: [] };

function shapeOf(schema: JsonObject, around: Place): Shape {
  const known = around.shapes.get(schema);
  if (known !== undefined) return known;
  if (around.within.includes(schema)) return NOTHING;
  const shape = shapeFrom(schema, { ...around, within: [...around.within, schema] });
  around.shapes.set(schema, shape);
  return shape;
}

/** All that a schema says of itself, and its parts of it. */
function shapeFrom(schema: JsonObject, place: Place): Shape {
  const { properties, required } = schema;
  const own: Shape = {
    properties: isObject(properties) ? properties : {},
    required: listIn(required).filter((name) => typeof name === "string"),
    isClosed: schema["additionalProperties"] === false && schema["patternProperties"] === undefined,
    forms: [],
  };
  const target = resolvedIn(place.root, schema);
  const parts = [...(target === schema ? [] : [target]), ...listIn(schema["allOf"]).filter(isObject)];
  const unions = [schema["oneOf"], schema["anyOf"]].map((union) => {
    const branches = listIn(union).filter(isObject);
    return either(branches.filter((one) => mayBeObject(one, place)).map((one) => shapeOf(one, place)));
  });
  return [...parts.map((part) => shapeOf(part, place)), ...unions].reduce(both, own);
}

/** Arguments are an object: of a union with anything else, only the objects can be meant. */
function mayBeObject(schema: JsonObject, around: Place): boolean {
  const known = around.objects.get(schema);
  if (known !== undefined || around.within.includes(schema)) return known ?? true;
  const place = { ...around, within: [...around.within, schema] };
  const may = (one: Json) => one === true || (isObject(one) && mayBeObject(one, place));
  const { type } = schema;
  const parts = [...listIn(schema["allOf"]), resolvedIn(place.root, schema)].filter((part) => part !== schema);
  const isTyped = type === undefined || type === "object" || listIn(type).includes("object");
  const isValued = valuesOf(schema)?.some(isObject) ?? true;
  const isChosen = [schema["oneOf"], schema["anyOf"]].every((union) => union === undefined || listIn(union).some(may));
  const found = isTyped && isValued && isChosen && parts.every(may);
  around.objects.set(schema, found);
  return found;
}

function both(a: Shape, b: Shape): Shape {
  return {
    properties: joined([a, b], ([one = {}, other = {}]) => intersection(one, other)),
    required: [...new Set([...a.required, ...b.required])],
    isClosed: a.isClosed || b.isClosed,
    forms: a.forms.length === 0 ? b.forms : a.forms,
  };
}

function either(shapes: readonly Shape[]): Shape {
  const [first = NOTHING, ...others] = shapes;
  if (others.length === 0) return first;
  return {
    properties: joined(shapes, union),
    required: first.required.filter((name) => others.every(({ required }) => required.includes(name))),
    isClosed: shapes.every(({ isClosed }) => isClosed),
    forms: [...new Set(shapes.flatMap((shape) => (shape.forms.length === 0 ? [shape] : shape.forms)))],
  };
}

/** The properties of several shapes; of one that several have, what `join` makes of it. */
function joined(shapes: readonly Shape[], join: (same: readonly Json[]) => Json): JsonObject {
  const found = new Map<string, Json[]>();
  for (const { properties } of shapes)
    for (const [name, property] of Object.entries(properties)) {
      const same = found.get(name) ?? [];
      if (!same.some((one) => JSON.stringify(one) === JSON.stringify(property))) same.push(property as Json);
      found.set(name, same);
    }
  return Object.fromEntries([...found].map(([name, same]) => [name, same.length === 1 ? same[0] : join(same)]));
}

function union(several: readonly Json[]): Json {
  const values = several.map(valuesOf);
  if (values.includes(undefined)) return bounded({ anyOf: several });
  return withValues(several, [...new Set(values.flatMap((some) => some ?? []))]);
}

function intersection(one: Json, other: Json): Json {
  const [some, others] = [valuesOf(one), valuesOf(other)];
  if (some === undefined || others === undefined) return bounded({ allOf: [one, other] });
  return withValues(
    [one, other],
    some.filter((value) => others.includes(value)),
  );
}

/** Put together again and again, what is said of one property may double every time: then anything may stand there. */
function bounded(property: JsonObject): JsonObject {
  return JSON.stringify(property).length > LONGEST_PROPERTY ? {} : property;
}

const LONGEST_PROPERTY = 32 * 1024;

/** A choice among values, with what the first says of it besides. */
function withValues([first, ...others]: readonly Json[], values: readonly Json[]): Json {
  const { const: _const, type, ...said } = isObject(first) ? first : {};
  const isSame = others.every((other) => isObject(other) && other["type"] === type);
  return { ...(isSame && type !== undefined ? { type } : {}), ...said, enum: values };
}

function valuesOf(property: Json | undefined): readonly Json[] | undefined {
  if (!isObject(property)) return undefined;
  if (Object.hasOwn(property, "const")) return [property["const"] as Json];
  return Array.isArray(property["enum"]) ? (property["enum"] as readonly Json[]) : undefined;
}

/** Which properties belong together: once they stand in one object, nothing else says so. */
function formsText(forms: readonly Shape[]): string | undefined {
  if (forms.length < 2) return undefined;
  return `Takes one of these forms: ${forms.map(formText).join(" or ")}.`;
}

function formText({ properties, required }: Shape): string {
  const names = [...new Set([...required, ...Object.keys(properties)])];
  const told = names.map((name) => {
    const values = valuesOf(properties[name]);
    const value = values?.length === 1 ? `: ${JSON.stringify(values[0])}` : "";
    return `${name}${required.includes(name) ? "" : "?"}${value}`;
  });
  return told.length === 0 ? "{}" : `{ ${told.join(", ")} }`;
}

function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
