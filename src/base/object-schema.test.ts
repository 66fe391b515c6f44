import { expect, test } from "vitest";
import type { JsonObject } from "./json.ts";
import { objectSchema } from "./object-schema.ts";

const of = (properties: JsonObject, required: readonly string[] = [], more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
  ...more,
});

test("[ADAPT-47] an object comes back as it is", () => {
  const plain = of({ a: { oneOf: [{ type: "string" }, { type: "number" }] } }, ["a"], { additionalProperties: false });
  expect(objectSchema(plain)).toBe(plain);
});

test("[ADAPT-47] of a union, what every form demands is demanded, and the forms are told in words", () => {
  const strict = { additionalProperties: false };
  const schema = {
    description: "Looks something up.",
    anyOf: [of({ id: { type: "string" } }, ["id"], strict), of({ id: { type: "number" }, deep: {} }, ["id"], strict)],
  };
  expect(objectSchema(schema)).toEqual({
    description: "Looks something up. Takes one of these forms: { id } or { id, deep? }.",
    type: "object",
    properties: { id: { anyOf: [{ type: "string" }, { type: "number" }] }, deep: {} },
    required: ["id"],
    additionalProperties: false,
  });
});

test("[ADAPT-47] what one form leaves open stays open", () => {
  const schema = { oneOf: [of({ a: {} }, [], { additionalProperties: false }), of({ b: {} })] };
  expect(objectSchema(schema)).not.toHaveProperty("additionalProperties");
});

test("[ADAPT-47] values that choose a form become one choice, and a mask at the root keeps narrowing it", () => {
  const branch = (action: string) => of({ action: { const: action, description: "What to do." } }, ["action"]);
  const masked = of({ action: { enum: ["read", "list"] } }, ["action"], { oneOf: ["read", "list"].map(branch) });
  expect(objectSchema(masked)).toEqual({
    description: 'Takes one of these forms: { action: "read" } or { action: "list" }.',
    ...of({ action: { enum: ["read", "list"] } }, ["action"]),
  });
});

test("[ADAPT-47] an intersection demands all, references into the schema are followed, and definitions stay", () => {
  const schema: JsonObject = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    allOf: [{ $ref: "#/$defs/Page" }, of({ page: { minimum: 1 }, q: { type: "string" } }, ["q"])],
    not: { required: ["other"] },
    $defs: { Page: of({ page: { type: "integer" } }, ["page"]) },
  };
  expect(objectSchema(schema)).toEqual({
    $schema: schema["$schema"],
    $defs: schema["$defs"],
    ...of({ page: { allOf: [{ type: "integer" }, { minimum: 1 }] }, q: { type: "string" } }, ["page", "q"]),
  });
});

test("[ADAPT-47] what is no object is passed over, and what holds itself is looked at once", () => {
  const tree: JsonObject = {
    anyOf: [{ $ref: "#/$defs/Tree" }, { type: "string" }, { type: ["object", "null"], properties: { leaf: {} } }],
    $defs: { Tree: { oneOf: [{ $ref: "#/$defs/Tree" }, of({ name: {} }, ["name"])] } },
  };
  expect(objectSchema(tree)["properties"]).toEqual({ name: {}, leaf: {} });
  expect(objectSchema({ type: ["object", "null"], required: ["a"] })).toMatchObject({
    type: "object",
    required: ["a"],
  });
  expect(objectSchema({ anyOf: [{ type: "string" }] })).toEqual({ type: "object", properties: {} });
  expect(objectSchema({ enum: [{ a: 1 }], const: { a: 1 } })).toEqual({ type: "object", properties: {} });
});

test("[ADAPT-49] a reference into the union that went leads where it led before", () => {
  const place = of({ x: { type: "number" }, near: { $ref: "#/anyOf/0/properties/where" } });
  const schema: JsonObject = {
    anyOf: [
      of({ where: place }, ["where"]),
      of({ to: { $ref: "#/anyOf/0/properties/where" }, again: { items: { $ref: "#" } } }, ["to"]),
    ],
    $defs: { anyOf_0_properties_where: { type: "string" } },
  };
  const name = "anyOf_0_properties_where_2";
  const settled = of({ x: { type: "number" }, near: { $ref: `#/$defs/${name}` } });
  expect(objectSchema(schema)).toMatchObject({
    properties: { where: settled, to: { $ref: `#/$defs/${name}` }, again: { items: { $ref: "#" } } },
    $defs: { ...(schema["$defs"] as JsonObject), [name]: settled },
  });
});

test.each([
  ["through a definition", "#/definitions/Page/properties/inner"],
  ["to a name with letters that are written otherwise", "#/$defs/a~1b%20%C3%B6"],
  ["outside the tables of definitions", "#/components/schemas/Inner"],
])("[ADAPT-49] a reference %s is followed", (_, $ref) => {
  const inner = of({ id: {} }, ["id"]);
  const schema = {
    $ref,
    definitions: { Page: of({ inner }) },
    $defs: { "a/b ö": inner },
    components: { schemas: { Inner: inner } },
  };
  expect(objectSchema(schema)).toMatchObject(inner);
});

test("[ADAPT-49] a form that cannot be an object, however it says so, lets nothing be left out", () => {
  const named = of({ name: {} }, ["name"]);
  const nullable = [{ type: "string" }, { const: null }];
  const forms = [named, { const: null }, { enum: ["all"] }, { anyOf: nullable }, { $ref: "#/$defs/Alias" }];
  const $defs = { Alias: { $ref: "#/$defs/Text" }, Text: { type: "string" } };
  expect(objectSchema({ anyOf: forms, $defs })).toEqual({ ...named, $defs });
});

test("[ADAPT-49] what a form allows by the letters of its name stays allowed", () => {
  const closed = { additionalProperties: false };
  const schema = {
    anyOf: [of({ a: {} }, [], closed), of({ b: {} }, [], { patternProperties: { "^x-": {} }, ...closed })],
  };
  expect(objectSchema(schema)).not.toHaveProperty("additionalProperties");
});

test.each([
  ["the same twice over", (next: JsonObject) => ({ anyOf: [next, { ...next }] })],
  [
    "the same and more of it",
    (next: JsonObject, nth: number) => ({
      anyOf: [{ allOf: [next, of({ a: { minimum: nth } })] }, { ...next }],
    }),
  ],
  [
    "no object, twice over",
    (next: JsonObject) => ({ anyOf: [of({ b: {} }), { allOf: [next, { type: "string" }] }, next] }),
  ],
])("[ADAPT-51] definitions that refer to each other many times over take no time: %s", (_, level) => {
  const levels = Array.from({ length: 60 }, (_unused, nth): [string, JsonObject] => [
    `D${nth}`,
    level({ $ref: `#/$defs/D${nth + 1}` }, nth),
  ]);
  const $defs = { ...Object.fromEntries(levels), D60: of({ a: { type: "integer" } }) };
  const { properties, description } = objectSchema({ $ref: "#/$defs/D0", $defs });
  expect(properties).toHaveProperty("a");
  expect(JSON.stringify([properties, description]).length).toBeLessThan(200_000);
});
