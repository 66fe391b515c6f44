import type { Json, JsonObject } from "../../base/json.ts";
import { grouped, head } from "./cut.ts";

/** A JSON text as its shape: keys, sizes of lists, first elements, the beginnings of long strings. Lines, widest first. */
export function jsonShape(value: Json, room: number): string {
  for (const [elements, width] of DETAIL) {
    const text = shapeOf(value, { elements, width }, 0);
    if (text.length <= room) return text;
  }
  return head(shapeOf(value, { elements: 1, width: 16 }, 3), room);
}

interface Detail {
  readonly elements: number;
  readonly width: number;
}

/** From much to little; the first that fits is taken. */
const DETAIL: readonly (readonly [elements: number, width: number])[] = [
  [8, 160],
  [3, 80],
  [2, 40],
  [1, 24],
];

function shapeOf(value: Json, detail: Detail, depth: number): string {
  if (typeof value === "string") return stringShape(value, detail.width);
  if (value === null || typeof value !== "object") return String(value);
  if (depth > 5) return Array.isArray(value) ? `[${grouped(value.length)}]` : "{…}";
  return Array.isArray(value) ? listShape(value, detail, depth) : objectShape(value as JsonObject, detail, depth);
}

function stringShape(text: string, width: number): string {
  const flat = text.replace(/\s+/g, " ");
  return text.length <= width ? `'${flat}'` : `'${head(flat, width)}…' (${grouped(text.length)} characters)`;
}

function listShape(list: readonly Json[], detail: Detail, depth: number): string {
  const shown = list.slice(0, detail.elements).map((one) => shapeOf(one, detail, depth + 1));
  const more = list.length > shown.length ? [`… ${grouped(list.length)} in all`] : [];
  return `[${[...shown, ...more].join(", ")}]`;
}

function objectShape(object: JsonObject, detail: Detail, depth: number): string {
  const keys = Object.keys(object);
  const most = detail.elements * 6;
  const fields = keys.slice(0, most).map((key) => `${key}: ${shapeOf(object[key] as Json, detail, depth + 1)}`);
  const more = keys.length > most ? [`… ${grouped(keys.length)} keys`] : [];
  return `{${[...fields, ...more].join(depth === 0 ? ",\n " : ", ")}}`;
}
