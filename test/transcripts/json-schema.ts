/** As much of JSON Schema as the SARIF 2.1.0 schema uses. A keyword it does not know is an error, never passed over. */
export type Schema = Readonly<Record<string, unknown>>;

const SILENT = new Set(["$schema", "$id", "id", "title", "description", "default", "definitions"]);

type Check = (value: unknown, wanted: unknown, here: Here) => readonly string[];

interface Here {
  readonly root: Schema;
  readonly schema: Schema;
  readonly path: string;
}

const CHECKS: Readonly<Record<string, Check>> = {
  $ref: (value, wanted, { root, path }) => faultsOf(value, definition(root, String(wanted)), root, path),
  type: (value, wanted, { path }) =>
    [wanted].flat().includes(typeOf(value)) || ([wanted].flat().includes("number") && typeof value === "number")
      ? []
      : [`${path}: is ${typeOf(value)}, not ${String(wanted)}`],
  enum: (value, wanted, { path }) =>
    (wanted as unknown[]).includes(value) ? [] : [`${path}: ${JSON.stringify(value)} is none of the known values`],
  const: (value, wanted, { path }) => (value === wanted ? [] : [`${path}: must be ${JSON.stringify(wanted)}`]),
  minimum: (value, wanted, { path }) =>
    typeof value === "number" && value < Number(wanted) ? [`${path}: is below ${String(wanted)}`] : [],
  maximum: (value, wanted, { path }) =>
    typeof value === "number" && value > Number(wanted) ? [`${path}: is above ${String(wanted)}`] : [],
  pattern: (value, wanted, { path }) =>
    typeof value === "string" && !new RegExp(String(wanted)).test(value)
      ? [`${path}: does not match ${String(wanted)}`]
      : [],
  format: (value, wanted, { path }) =>
    typeof value === "string" && !isFormed(value, String(wanted)) ? [`${path}: is no ${String(wanted)}`] : [],
  minItems: (value, wanted, { path }) =>
    Array.isArray(value) && value.length < Number(wanted) ? [`${path}: has too few elements`] : [],
  uniqueItems: (value, wanted, { path }) =>
    wanted === true && Array.isArray(value) && new Set(value.map((one) => JSON.stringify(one))).size < value.length
      ? [`${path}: repeats an element`]
      : [],
  items: (value, wanted, { root, path }) =>
    Array.isArray(value) ? value.flatMap((one, nth) => faultsOf(one, wanted as Schema, root, `${path}[${nth}]`)) : [],
  required: (value, wanted, { path }) =>
    isObject(value) ? (wanted as string[]).filter((key) => !(key in value)).map((key) => `${path}: lacks ${key}`) : [],
  properties: (value, wanted, { root, path }) =>
    isObject(value)
      ? Object.entries(wanted as Record<string, Schema>).flatMap(([key, schema]) =>
          key in value ? faultsOf(value[key], schema, root, `${path}.${key}`) : [],
        )
      : [],
  additionalProperties: (value, wanted, { root, schema, path }) => {
    if (!isObject(value) || wanted === true) return [];
    const known = new Set(Object.keys((schema["properties"] ?? {}) as object));
    const others = Object.keys(value).filter((key) => !known.has(key));
    if (wanted === false) return others.map((key) => `${path}: knows no ${key}`);
    return others.flatMap((key) => faultsOf(value[key], wanted as Schema, root, `${path}.${key}`));
  },
  anyOf: (value, wanted, { root, path }) => {
    const tried = (wanted as Schema[]).map((schema) => faultsOf(value, schema, root, path));
    return tried.some((faults) => faults.length === 0) ? [] : [`${path}: fits no alternative: ${tried[0]?.join("; ")}`];
  },
  oneOf: (value, wanted, { root, path }) => {
    const fit = (wanted as Schema[]).filter((schema) => faultsOf(value, schema, root, path).length === 0).length;
    return fit === 1 ? [] : [`${path}: fits ${fit} alternatives instead of one`];
  },
  not: (value, wanted, { root, path }) =>
    faultsOf(value, wanted as Schema, root, path).length > 0 ? [] : [`${path}: is what it must not be`],
};

/** Everything in a value that its schema does not allow. */
export function faultsOf(value: unknown, schema: Schema, root: Schema = schema, path = "$"): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, wanted]) => {
    if (SILENT.has(keyword)) return [];
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`the schema uses ${keyword}, which nobody checks here`);
    return check(value, wanted, { root, schema, path });
  });
}

function definition(root: Schema, ref: string): Schema {
  const name = ref.replace("#/definitions/", "");
  const found = (root["definitions"] as Record<string, Schema> | undefined)?.[name];
  if (found === undefined) throw new Error(`the schema has no ${ref}`);
  return found;
}

function isFormed(text: string, format: string): boolean {
  if (format === "uri") return URL.canParse(text);
  if (format === "uri-reference") return URL.canParse(text, "file:///") && !/[\s<>"{}|\\^`]/.test(text);
  if (format === "date-time") return !Number.isNaN(Date.parse(text));
  throw new Error(`the schema uses the format ${format}, which nobody checks here`);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
