import {
  type AssistantItem,
  type CallItem,
  type CallKind,
  type Item,
  type OutputItem,
  type Part,
  type ReasoningItem,
  type SystemItem,
  toolCallId,
  type UserItem,
} from "../wire/item.ts";
import { asText, type Fields, isFields } from "../base/fields.ts";
import type { Piece, Reading } from "./format.ts";

/** Items without their texts. A judge asks whether there was text, never which. */

/** Whether most elements of a list are what is expected; a few strangers do not make it another format. */
export function mostly(list: unknown, is: (element: unknown) => boolean): list is readonly unknown[] {
  if (!Array.isArray(list) || list.length === 0) return false;
  const sample = list.slice(0, 50);
  const fit = sample.filter(is).length;
  return fit > 0 && fit * 4 >= sample.length * 3;
}

/** A value at a path, without stepping onto prototypes. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

export function user(content: unknown, step?: string): UserItem {
  return { kind: "user", parts: glimpse(content), ...(step === undefined ? {} : { step }) };
}

export function assistant(content: unknown, step?: string): AssistantItem {
  return { kind: "assistant", parts: glimpse(content), ...(step === undefined ? {} : { step }) };
}

export function system(content: unknown): SystemItem {
  return { kind: "system", role: "system", parts: glimpse(content) };
}

export function reasoning(step?: string): ReasoningItem {
  return { kind: "reasoning", text: "", ...(step === undefined ? {} : { step }) };
}

/** An item that is its element as a whole. */
export function whole(item: Item): Piece {
  return { item, path: [], ids: [] };
}

/** An element that is a message as a whole, in formats that are a flat list. */
export function spoken({ role, content }: Fields): Reading {
  if (role === "user") return { message: true, speaks: role, pieces: [whole(user(content))] };
  if (role === "assistant") return { message: true, speaks: role, pieces: [whole(assistant(content))] };
  return { message: true, pieces: [whole(system(content))] };
}

/** Where an element stands in the tree of a log, by the fields that say so. */
export function linksOf(element: Fields, idField: string, parentField: string): Pick<Reading, "id" | "parent"> {
  const id = asText(element[idField]);
  const parent = asText(element[parentField]);
  return { ...(id === undefined ? {} : { id }), ...(parent === undefined ? {} : { parent }) };
}

export interface CallFacts {
  readonly id: unknown;
  readonly name: unknown;
  readonly input?: unknown;
  readonly step?: string | undefined;
  readonly kind?: CallKind;
  readonly partial?: boolean;
  readonly server?: boolean;
}

export function called({ id, name, input, step, kind = "function", partial, server }: CallFacts): CallItem {
  return {
    kind: "call",
    callKind: kind,
    name: asText(name) ?? "",
    ...(typeof id === "string" ? { callId: toolCallId(id) } : {}),
    ...(step === undefined ? {} : { step }),
    ...(typeof input === "string" ? { inputText: isWhole(input) ? "{}" : "{" } : { input: {} }),
    ...(partial === true ? { partial } : {}),
    ...(server === true ? { server } : {}),
  };
}

export interface OutputFacts {
  readonly id: unknown;
  readonly name?: unknown;
  readonly failed?: boolean;
  readonly kind?: CallKind;
  readonly server?: boolean;
}

export function returned({ id, name, failed, kind = "function", server }: OutputFacts): OutputItem {
  return {
    kind: "output",
    callKind: kind,
    callId: toolCallId(asText(id) ?? ""),
    status: failed === true ? "failed" : "success",
    parts: [TEXT],
    ...(typeof name === "string" && name !== "" ? { name } : {}),
    ...(server === true ? { server } : {}),
  };
}

const TEXT: Part = { type: "text", text: "…" };
const BLANK: Part = { type: "text", text: "" };

/** Whether there was anything to read. */
function glimpse(content: unknown): readonly Part[] {
  if (typeof content === "string") return [content.trim() === "" ? BLANK : TEXT];
  if (Array.isArray(content)) return content.length === 0 ? [] : [content.some(isSomething) ? TEXT : BLANK];
  return content === undefined || content === null ? [] : [TEXT];
}

function isSomething(block: unknown): boolean {
  const text = isFields(block) ? (block["text"] ?? block["thinking"]) : block;
  return typeof text !== "string" || text.trim() !== "";
}

/** Arguments that were streamed as text and stop in the middle make a partial call. */
function isWhole(text: string): boolean {
  if (text.trim() === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
