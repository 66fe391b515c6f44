import { readTurns } from "./judge/read.ts";
import { type ProfileChoice, profileOf } from "./profiles.ts";
import { WIRE_RULES, type WireRuleId } from "./rules.ts";

/** A request as it would be sent: the messages alone, or together with the tools it offers. */
export type WireRequest =
  | readonly unknown[]
  | {
      readonly messages?: readonly unknown[];
      readonly input?: readonly unknown[];
      readonly contents?: readonly unknown[];
      readonly tools?: unknown;
      /**
       * Set when the provider keeps the earlier conversation: outputs may then answer calls that are not in the list.
       */
      readonly previous_response_id?: unknown;
      /** Like `previous_response_id`, for a conversation that the provider keeps. */
      readonly conversation?: unknown;
      /** The provider's own setting for thinking; some rules apply only when it is on. */
      readonly thinking?: unknown;
    };

/** One reason why the provider would refuse a request. */
export interface WireFault {
  readonly rule: WireRuleId;
  /** Index of the message at fault; 0 when it is a tool. */
  readonly at: number;
  readonly detail: string;
  /** The error that the provider would answer with. */
  readonly error: string;
}

/**
 * Checks a request against every wire rule of a profile and returns all that its provider would refuse. An empty list
 * means that the request may be sent.
 */
export function checkWire(request: WireRequest, choice: ProfileChoice): readonly WireFault[] {
  const profile = profileOf(choice);
  const messages = messagesOf(request);
  const turns = readTurns(messages, profile.format);
  const tools = Array.isArray(request) ? undefined : toolNames((request as { readonly tools?: unknown }).tools);
  const judged = { turns, messages, profile, tools, continues: continuesOf(request), thinks: thinksOf(request) };
  return WIRE_RULES.flatMap(({ id, errors, check }) => {
    const error = errors[profile.id];
    return error === undefined ? [] : check(judged).map((breach) => ({ rule: id, ...breach, error }));
  });
}

function messagesOf(request: WireRequest): readonly unknown[] {
  if (Array.isArray(request)) return request;
  const fields = request as Exclude<WireRequest, readonly unknown[]>;
  return fields.messages ?? fields.input ?? fields.contents ?? [];
}

function continuesOf(request: WireRequest): boolean {
  if (Array.isArray(request)) return false;
  const { previous_response_id: before, conversation } = request as Exclude<WireRequest, readonly unknown[]>;
  return typeof before === "string" || (conversation !== undefined && conversation !== null);
}

/** Whether the request turns thinking on. Where the model decides for itself nothing is demanded. */
function thinksOf(request: WireRequest): boolean {
  const { thinking } = Array.isArray(request) ? {} : (request as { readonly thinking?: unknown });
  return typeof thinking === "object" && thinking !== null && (thinking as { type?: unknown }).type === "enabled";
}

/** Tool names in any of the shapes in which requests offer them. */
function toolNames(tools: unknown): ReadonlySet<string> | undefined {
  if (tools === undefined || tools === null) return undefined;
  if (!Array.isArray(tools)) return new Set(Object.keys(tools));
  const names = tools.flatMap((tool: unknown): unknown[] => {
    if (typeof tool !== "object" || tool === null) return [tool];
    const fields = tool as Record<string, unknown>;
    const nested = fields["function"] ?? fields["custom"];
    const declared = fields["functionDeclarations"];
    if (Array.isArray(declared)) return declared.map((one: { readonly name?: unknown }) => one.name);
    return [fields["name"] ?? (nested as { readonly name?: unknown } | undefined)?.name ?? fields["type"]];
  });
  return new Set(names.filter((name) => typeof name === "string"));
}
