import type { Json } from "../../base/json.ts";
import type { DurableKind, Field, WritebackOp } from "./tuple.ts";

/** What a field of a durable page may hold. */
export interface FieldShape {
  readonly type: Field["type"];
  /** The longest value of one change, in characters of JSON. */
  readonly most: number;
  /** The texts it may be, or for a map its values. */
  readonly oneOf?: readonly string[];
}

const text = (most: number): FieldShape => ({ type: "text", most });
const list = (most: number): FieldShape => ({ type: "list", most });
const map = (most: number): FieldShape => ({ type: "map", most });

const LEVELS = ["full", "compressed", "structured", "pointer"];
/** How a page holds on, and the lowest level it is to be shown at. */
const HOLD: Readonly<Record<"pin" | "least", FieldShape>> = {
  pin: { type: "text", most: 16, oneOf: ["none", "soft", "hard"] },
  least: { type: "text", most: 16, oneOf: LEVELS },
};

export const FIELDS: Readonly<Record<DurableKind, Readonly<Record<string, FieldShape>>>> = {
  constraint: { text: text(8_192), because: list(2_048), ...HOLD },
  plan: { objective: text(2_048), steps: { ...map(4_096), oneOf: ["todo", "doing", "done"] }, ...HOLD },
  preference: { text: text(4_096), values: map(4_096), notes: list(2_048), ...HOLD },
};

/** Which changes a field takes. */
const OPS: Readonly<Record<Field["type"], readonly WritebackOp[]>> = {
  text: ["set-with-version"],
  list: ["append", "set-with-version"],
  map: ["merge", "set-with-version"],
};

/** What is wrong with a value for a field, in words, or nothing. */
export function misfit(shape: FieldShape, op: WritebackOp, value: Json): string | undefined {
  if (!OPS[shape.type].includes(op)) return `takes ${OPS[shape.type].join(" or ")}, not ${op}`;
  const size = JSON.stringify(value).length;
  if (size > shape.most) return `has ${size} characters, and ${shape.most} is the most`;
  if (shape.type === "text" && typeof value !== "string") return "must be a string";
  if (shape.type === "list" && op === "set-with-version" && !Array.isArray(value)) return "must be a list";
  if (shape.type === "map" && !isRecord(value)) return "must be an object";
  const { oneOf } = shape;
  if (oneOf !== undefined && !valuesOf(value).every((one) => oneOf.includes(one as string)))
    return `must be one of ${oneOf.join(", ")}`;
  return undefined;
}

function valuesOf(value: Json): readonly Json[] {
  return isRecord(value) ? Object.values(value) : [value];
}

export function isRecord(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
