import type { AlignedPrompt } from "../alignment/align.ts";
import { deepFreeze } from "../base/freeze.ts";
import type { JsonObject } from "../base/json.ts";
import type { SessionToolCatalogSnapshot } from "../catalog/snapshot.ts";
import type { ModelRequest, ToolOffer } from "../contracts/model.ts";
import type { ContextConfig } from "../history/config.ts";
import type { FaultKind } from "../history/faults.ts";
import { HISTORY_GUIDANCE } from "../history/history-block.ts";
import type { PairedHistory } from "../history/paired.ts";
import { getHistoryForPrompt, type HistoryRepairedDraft, repairRecords } from "../history/session.ts";
import type { View } from "../context/view.ts";
import { type Item, textOf } from "../wire/item.ts";
import type { ProfileId } from "../wire/profiles.ts";
import type { Conversation } from "./conversation.ts";
import { RUN_CODE } from "./session-history.ts";

export interface RepairedPairs {
  readonly history: PairedHistory;
  /** What to write down: one record per fault that no earlier one speaks of. */
  readonly records: readonly (HistoryRepairedDraft & { readonly fault: FaultKind; readonly detail: JsonObject })[];
}

/** Station: the log as a provider takes it. The journal is not touched; what was found is told once. */
export function repairPairs(
  conversation: Conversation,
  options: { readonly profile: ProfileId; readonly tools: readonly string[]; readonly config: ContextConfig },
): RepairedPairs {
  const repaired = getHistoryForPrompt(conversation.items, {
    profile: options.profile,
    config: options.config,
    tools: new Set(options.tools),
    index: conversation.index,
    inFlight: conversation.running,
  });
  conversation.nameMade(repaired.repairs);
  const records = repaired.repairs.flatMap((repair) => {
    const { kind: fault, at } = repair.fault;
    const place = conversation.unrecorded(fault, at);
    if (place === undefined) return [];
    const [record] = repairRecords({ repairs: [repair] });
    if (record === undefined) return [];
    return [{ ...record, fault, detail: { ...(record.detail as JsonObject), ...place } }];
  });
  return { history: repaired.history, records };
}

/** How a request asks the model: tool choice, output limit, temperature, reasoning effort. */
export type RequestOptions = Pick<ModelRequest, "toolChoice" | "maxOutputTokens" | "temperature" | "reasoning">;

/** Station: the request. Only a view of a repaired history and an aligned prompt can be put into one. */
export function writeRequest(
  view: View,
  { prompt, catalog }: AlignedPrompt,
  { isPaused = false, ...options }: RequestOptions & Partial<Pick<Conversation, "isPaused">>,
): ModelRequest {
  const { prefixText, tailText } = prompt;
  const prefix: readonly Item[] = prefixText === "" ? [] : [system(prefixText)];
  const { tools } = offeredBy(catalog);
  const said = tools.length === 0 ? withoutChoice(options) : { ...options, tools };
  const shown = view.items.slice(0, view.stableItems);
  const standing = view.items.slice(view.stableItems);
  // An answer that was paused must stand last, or it cannot go on.
  if (isPaused && isModels(shown.at(-1)))
    return { ...said, items: [...prefix, system(tailText), ...standing, ...shown] };
  const stable = prefix.concat(shown);
  return { ...said, items: stable.concat(standing, tail(tailText)), stableItems: stable.length };
}

/** A choice among no tools is refused by providers. One that demands a call is theirs to refuse: it cannot be met. */
function withoutChoice({ toolChoice, ...rest }: RequestOptions): RequestOptions {
  return toolChoice === undefined || toolChoice === "auto" || toolChoice === "none" ? rest : { ...rest, toolChoice };
}

/** Whether a request that offers programs says how they read the history; undefined where it offers none. */
export function guidanceIn({ items, tools = [] }: ModelRequest): boolean | undefined {
  if (!tools.some(({ name }) => name === RUN_CODE)) return undefined;
  return items.some((item) => isOurs(item) && textOf(item.parts).includes(HISTORY_GUIDANCE));
}

function isOurs(item: Item): item is Extract<Item, { readonly kind: "user" | "system" }> {
  return item.kind === "system" || (item.kind === "user" && item.notice === "context-update");
}

/** What stands around the conversation in every request, as texts that can be counted. */
export function aroundOf({ prompt, catalog }: AlignedPrompt): readonly string[] {
  return [prompt.prefixText, ...offeredBy(catalog).texts, prompt.tailText];
}

interface Offered {
  readonly tools: readonly ToolOffer[];
  /** Each as it is counted. */
  readonly texts: readonly string[];
}

const offered = new WeakMap<SessionToolCatalogSnapshot, Offered>();

/** A snapshot never changes, and is offered in many requests. */
function offeredBy(catalog: SessionToolCatalogSnapshot): Offered {
  const known = offered.get(catalog);
  if (known !== undefined) return known;
  const tools = deepFreeze((catalog.tools ?? []).map(offerOf));
  const made = { tools, texts: tools.map((tool) => JSON.stringify(tool)) };
  offered.set(catalog, made);
  return made;
}

/** Word for word what was hashed: neither more nor less than the snapshot says. */
function offerOf({ name, description, input }: ToolOffer): ToolOffer {
  return { name, ...(description === undefined ? {} : { description }), input };
}

function system(text: string): Item {
  return { kind: "system", role: "system", parts: [{ type: "text", text }] };
}

/** Behind the conversation, where it may change without costing the provider's cache. It begins no turn of the user's. */
function tail(text: string): Item {
  return { kind: "user", notice: "context-update", parts: [{ type: "text", text, notice: "context-update" }] };
}

function isModels(item: Item | undefined): boolean {
  return item?.kind === "assistant" || item?.kind === "reasoning" || (item?.kind === "other" && item.by === "model");
}
