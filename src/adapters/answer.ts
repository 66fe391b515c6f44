import { isFields } from "../base/fields.ts";
import { fingerprint } from "../base/fingerprint.ts";
import { parseAsWritten } from "../base/json.ts";
import type {
  Answer,
  AskedCall,
  AskedInput,
  ModelRequest,
  PartialAnswer,
  RenamedCall,
  StopReason,
  Usage,
} from "../contracts/model.ts";
import { type CallItem, type Item, type ToolCallId, toolCallId } from "../wire/item.ts";

/** What a provider has said so far. */
export interface Draft {
  /** The items so far, read from the provider's own message, which each keeps as its origin. */
  readonly items: readonly Item[];
  readonly id?: string;
  readonly model?: string;
  readonly usage?: Usage;
  readonly unread: readonly string[];
  /** Why the provider stopped. Absent until it has said so; after that nothing more comes. */
  readonly stop?: { readonly reason: StopReason; readonly text: string };
}

/** What is left of an answer that broke off. */
export function partialFrom({ stop: _stop, ...draft }: Draft): PartialAnswer {
  const items = stamped(draft.items, draft.id).map((item) => (isOurs(item) ? { ...item, partial: true } : item));
  return { ...draft, items };
}

/** A finished draft as an answer: calls read, ids made usable. */
export function answerFrom(draft: Draft, stop: NonNullable<Draft["stop"]>, request: ModelRequest): Answer {
  const step = freeStep(draft.id, request);
  const { items, renamed } = withUsableIds(markCut(stamped(draft.items, step), stop.reason), request, step ?? "");
  const calls = askedCalls(items);
  const { stop: _stop, ...rest } = draft;
  return { ...rest, items, calls, renamed, stop: stopOf(stop.reason, calls), stopText: stop.text };
}

/** Some gateways say `stop` and call a tool, or say `tool_calls` and call none: what was said decides. */
function stopOf(said: StopReason, calls: readonly AskedCall[]): StopReason {
  if (said !== "stop" && said !== "tool-calls") return said;
  return calls.length > 0 ? "tool-calls" : "stop";
}

/** Items of one answer share a step; formats without messages leave it out, the others count from zero in each answer. */
function stamped(items: readonly Item[], step: string | undefined): readonly Item[] {
  return step === undefined ? items : items.map((item) => ({ ...item, step }));
}

/** Two answers under one id would be read as one batch of calls, so the second goes by another. */
function freeStep(id: string | undefined, { items }: ModelRequest): string | undefined {
  if (id === undefined) return undefined;
  const taken = new Set(items.map((item) => item.step));
  let step = id;
  for (let nth = 2; taken.has(step); nth += 1) step = `${id}~${nth}`;
  return step;
}

/**
 * The limit fell inside the last call's arguments, or before them: nobody asked for what is left. A call that ends the answer
 * with none at all cannot be told from one whose arguments never came, and would be run with every default.
 */
function markCut(items: readonly Item[], stop: StopReason): readonly Item[] {
  const last = items.findLastIndex(isOurs);
  const item = items[last];
  if (stop !== "length" || item?.kind !== "call") return items;
  const begun = last < items.length - 1 || !isBare(item);
  return begun && inputOf(item).ok ? items : items.with(last, { ...item, partial: true });
}

function isBare({ input = {}, inputText }: CallItem): boolean {
  if (inputText !== undefined) return inputText.trim() === "";
  return isFields(input) && Object.keys(input as object).length === 0;
}

function askedCalls(items: readonly Item[]): readonly AskedCall[] {
  return items.filter(isOurs).flatMap((call, index) => {
    const { callId, callKind, name } = call;
    return call.partial === true || callId === undefined
      ? []
      : [{ index, callId, callKind, name, input: inputOf(call) }];
  });
}

/** A call that waits for us: not one that the provider runs itself. */
function isOurs(item: Item): item is CallItem {
  return item.kind === "call" && item.server !== true;
}

/** Arguments as a value. Free text of a custom tool is one; a function takes an object or nothing. */
function inputOf(call: CallItem): AskedInput {
  const { input = {}, inputText } = call;
  if (inputText === undefined) return { ok: true, value: input };
  if (call.callKind === "custom") return { ok: true, value: inputText };
  if (inputText.trim() === "") return { ok: true, value: {} };
  const parsed = parseAsWritten(inputText);
  if (!parsed.ok) return { ok: false, text: inputText, why: parsed.error.detail };
  if (isFields(parsed.value)) return { ok: true, value: parsed.value };
  return { ok: false, text: inputText, why: "the arguments are not an object" };
}

/**
 * Providers reuse ids from one turn to the next, give two calls the same one, or none. A pair is then not a pair, so
 * such a call goes by an id derived from where it stands.
 */
function withUsableIds(
  items: readonly Item[],
  request: ModelRequest,
  answerId: string,
): { readonly items: readonly Item[]; readonly renamed: readonly RenamedCall[] } {
  const taken = new Set<string>(request.items.flatMap((item) => (item.kind === "call" ? [item.callId ?? ""] : [])));
  taken.add("");
  const renamed: RenamedCall[] = [];
  let index = -1;
  const usable = items.map((item) => {
    if (!isOurs(item)) return item;
    index += 1;
    const from = item.callId ?? "";
    // A local shell call may come without an id; it then stands alone and is not paired.
    if (!taken.has(from) || (item.callKind === "shell" && item.callId === undefined)) {
      taken.add(from);
      return item;
    }
    const to = freeId(`${answerId} ${index} ${from}`, taken);
    taken.add(to);
    if (wasSent(item, from)) renamed.push({ index, from, to });
    return { ...item, callId: to };
  });
  return { items: usable, renamed };
}

/** Where a format lets calls come without an id its codec gives them one: nobody sent it, so nobody is told it went. */
function wasSent({ origin }: CallItem, id: string): boolean {
  return id === "" || origin === undefined || textsIn(origin.pieces).includes(id);
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function freeId(place: string, taken: ReadonlySet<string>): ToolCallId {
  for (let nth = 0; ; nth += 1) {
    const id = `call_${fingerprint(`${place} ${nth}`).slice(0, 24)}`;
    if (!taken.has(id)) return toolCallId(id);
  }
}
