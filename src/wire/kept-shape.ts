import type { Json } from "../base/json.ts";
import { boolean, count, fields, json, list, oneOf, optional, type Shape, string } from "../records/shape.ts";
import { CALL_KINDS, type Item, type Part, WIRE_FORMATS } from "./item.ts";
import { OUTPUT_STATUSES } from "./status.ts";

const media = fields({
  media: fields({
    mediaType: optional(string),
    url: optional(string),
    base64: optional(string),
    fileId: optional(string),
    blob: optional(fields({ name: string, size: count })),
    name: optional(string),
  }),
});

const PARTS: Readonly<Record<Part["type"], Shape<unknown>>> = {
  text: fields({ text: string }),
  image: media,
  audio: media,
  file: media,
  other: fields({ origin: fields({ format: oneOf(...WIRE_FORMATS), piece: json }) }),
};
const parts = list(byWord("type", PARTS));
const callKind = oneOf(...CALL_KINDS);
/** Where any item came from. */
const base = fields({ id: optional(string), at: optional(string), from: optional(list(count)) });

const ITEMS: Readonly<Record<Item["kind"], Shape<unknown>>> = {
  system: fields({ role: oneOf("system", "developer"), parts }),
  user: fields({ parts }),
  assistant: fields({ parts, phase: optional(string), reasoningId: optional(string) }),
  reasoning: fields({ text: string, signature: optional(string) }),
  call: fields({
    callKind,
    name: string,
    callId: optional(string),
    inputText: optional(string),
    partial: optional(boolean),
    server: optional(boolean),
    signature: optional(string),
    reasoningId: optional(string),
  }),
  output: fields({
    callKind,
    callId: optional(string),
    name: optional(string),
    status: oneOf(...OUTPUT_STATUSES),
    reason: optional(string),
    parts,
  }),
  "approval-request": fields({ approvalId: string, callId: optional(string) }),
  "approval-answer": fields({ approvalId: string, approved: boolean, reason: optional(string) }),
  other: fields({ by: oneOf("model", "host") }),
};

const KEPT_ITEMS = fields({
  originals: list(fields({ format: oneOf(...WIRE_FORMATS), message: fields({}) })),
  items: list(both(base, byWord("kind", ITEMS))),
});

/** What keeps a value from being kept items, in words, or nothing. Whatever passes can be read, and be sent. */
export function keptItemsFault(value: Json, path: string): string | undefined {
  return KEPT_ITEMS.fault(value, path);
}

/** One of several shapes, chosen by what the value calls itself. */
function byWord(field: string, shapes: Readonly<Record<string, Shape<unknown>>>): Shape<unknown> {
  const named = fields({ [field]: oneOf(...Object.keys(shapes)) });
  return {
    fault: (value, path) =>
      named.fault(value, path) ?? shapes[(value as Readonly<Record<string, string>>)[field] ?? ""]?.fault(value, path),
  };
}

function both(one: Shape<unknown>, other: Shape<unknown>): Shape<unknown> {
  return { fault: (value, path) => one.fault(value, path) ?? other.fault(value, path) };
}
