import type { JsonObject } from "../base/json.ts";
import type { ModelRequest, ToolOffer } from "../contracts/model.ts";
import type { FaultKind } from "../history/faults.ts";
import type { PairedHistory } from "../history/paired.ts";
import { getHistoryForPrompt, type HistoryRepairedDraft, repairRecords } from "../history/session.ts";
import type { Tool } from "../transaction/tool.ts";
import type { Item } from "../wire/item.ts";
import type { ProfileId } from "../wire/profiles.ts";
import type { Conversation } from "./conversation.ts";

export interface RepairedPairs {
  readonly history: PairedHistory;
  /** What to write down: one record per fault that no earlier one speaks of. */
  readonly records: readonly (HistoryRepairedDraft & { readonly fault: FaultKind; readonly detail: JsonObject })[];
}

/** Station: the log as a provider takes it. The journal is not touched; what was found is told once. */
export function repairPairs(
  conversation: Conversation,
  options: { readonly profile: ProfileId; readonly tools: readonly Tool[] },
): RepairedPairs {
  const names = new Set(options.tools.map(({ name }) => name));
  const repaired = getHistoryForPrompt(conversation.items, {
    profile: options.profile,
    tools: names,
    index: conversation.index,
    inFlight: conversation.running,
  });
  const records = repaired.repairs.flatMap((repair) => {
    const { kind: fault, at } = repair.fault;
    const place = conversation.unrecorded(fault, at);
    const [record] = repairRecords({ repairs: [repair] });
    if (place === undefined || record === undefined) return [];
    return [{ ...record, fault, detail: { ...(record.detail as JsonObject), ...place } }];
  });
  return { history: repaired.history, records };
}

/** What a request says beside the conversation. */
export interface RequestOptions
  extends Pick<ModelRequest, "toolChoice" | "maxOutputTokens" | "temperature" | "reasoning"> {
  /** Told before the conversation, in every request. */
  readonly instructions?: string;
}

/** Station: the request. Only a repaired history can be put into one. */
export function writeRequest(
  history: PairedHistory,
  tools: readonly Tool[],
  { instructions, ...options }: RequestOptions,
): ModelRequest {
  const system: readonly Item[] =
    instructions === undefined
      ? []
      : [{ kind: "system", role: "system", parts: [{ type: "text", text: instructions }] }];
  const items = [...system, ...history];
  return { ...options, items, ...(tools.length === 0 ? {} : { tools: tools.map(offerOf) }) };
}

function offerOf({ name, description, inputSchema }: Tool): ToolOffer {
  return { name, ...(description === "" ? {} : { description }), input: inputSchema };
}
