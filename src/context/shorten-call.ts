import type { Json, JsonObject } from "../base/json.ts";
import type { CallItem } from "../wire/item.ts";
import { grouped, head } from "./compress/cut.ts";
import { inputOf } from "./facts.ts";
import type { Handle } from "./handle.ts";

/** A long argument is longer than this; shorter ones say what the call was about and stay. */
const LONG = 200;

/**
 * The same call with its long arguments cut: still a call, with its id, its name and valid arguments, and every cut says
 * how much is missing and where it is.
 */
export function shortenedCall(call: CallItem, handle: Handle, keep: number): CallItem {
  const input = inputOf(call);
  if (input === undefined) return call;
  const shorter = shortened(input, handle, keep);
  if (shorter === input) return call;
  const { origin: _origin, inputText: _text, ...rest } = call;
  return { ...rest, input: shorter };
}

function shortened(value: Json, handle: Handle, keep: number): Json {
  if (typeof value === "string") return value.length <= LONG ? value : cut(value, handle, keep);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    const list = (value as readonly Json[]).map((one) => shortened(one, handle, keep));
    return list.every((one, at) => one === value[at]) ? value : list;
  }
  const object = value as JsonObject;
  let changed = false;
  const fields: Record<string, Json> = {};
  for (const key of Object.keys(object)) {
    const before = object[key] as Json;
    const after = shortened(before, handle, keep);
    if (after !== before) changed = true;
    Object.defineProperty(fields, key, { value: after, enumerable: true, writable: true, configurable: true });
  }
  return changed ? fields : value;
}

function cut(text: string, handle: Handle, keep: number): string {
  const front = head(text.toWellFormed(), keep);
  return `${front}[… ${grouped(text.length - front.length)} characters left out: ${handle}]`;
}
