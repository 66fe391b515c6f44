import { deepFreeze, isDeepFrozen } from "../base/freeze.ts";
import type { JsonObject } from "../base/json.ts";
import { objectSchema } from "../base/object-schema.ts";
import type { ToolOffer } from "../contracts/model.ts";

/**
 * Writes tools in a provider's format, once for all requests that offer the same list. The written list is frozen, so
 * it need not be checked again. Tools that can still be changed are written anew every time.
 */
export function writtenOnce(write: (tool: ToolOffer) => object): (tools: readonly ToolOffer[]) => readonly object[] {
  const known = new WeakMap<readonly ToolOffer[], readonly object[]>();
  return (tools) => {
    const before = known.get(tools);
    if (before !== undefined) return before;
    const written = tools.map((tool) => write(tool));
    if (isDeepFrozen(tools)) known.set(tools, deepFreeze(written));
    return written;
  };
}

/**
 * A tool's schema in the form that every provider takes: one object, with `type` and `properties`. Providers refuse the
 * whole request for one tool whose schema leaves these out, or is a union.
 */
export function wholeSchema(schema: JsonObject): WholeSchema {
  const object = objectSchema(schema);
  return isWhole(object) ? object : { ...EMPTY, ...object, ...TYPED };
}

/** A schema of an object that says so. */
export type WholeSchema = JsonObject & { readonly type: "object" };

const TYPED = { type: "object" } as const;
const EMPTY = { ...TYPED, properties: {} };

function isWhole(schema: JsonObject): schema is WholeSchema {
  return schema["type"] === "object" && Object.hasOwn(schema, "properties");
}
