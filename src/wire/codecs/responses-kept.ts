import { asText, type Fields, isFields } from "../../base/fields.ts";
import { RESPONSE_CALLS, RESPONSE_OUTPUTS } from "./responses-types.ts";

/**
 * Which outputs and consents answer what the provider keeps: those after a reference to an item, or anywhere in a list
 * that goes on from what it keeps, whose call or request is not in the list. Otherwise such an output is an orphan.
 */
export function keptElsewhere(
  messages: readonly unknown[],
  continues: boolean,
): (piece: Fields, at: number) => boolean {
  const first = messages.findIndex((piece) => isFields(piece) && piece["type"] === "item_reference");
  if (first === -1 && !continues) return () => false;
  const here = new Set(messages.flatMap((piece) => (isFields(piece) ? askedUnder(piece) : [])));
  const isReply = ({ type }: Fields) => type === "mcp_approval_response" || RESPONSE_OUTPUTS.has(asText(type) ?? "");
  return (piece, at) => (continues || at > first) && isReply(piece) && !here.has(repliesTo(piece));
}

/** Under what a call is answered, or a request for consent. */
function askedUnder(piece: Fields): readonly unknown[] {
  const type = asText(piece["type"]) ?? "";
  if (type === "mcp_approval_request") return [`consent ${asText(piece["id"])}`];
  return RESPONSE_CALLS.has(type) ? [piece["call_id"]] : [];
}

function repliesTo(piece: Fields): string | undefined {
  if (piece["type"] !== "mcp_approval_response") return answeredId(piece);
  return `consent ${asText(piece["approval_request_id"])}`;
}

/** The call an output answers. A shell's output may carry the call's id as its own. */
export function answeredId(piece: Fields): string | undefined {
  return asText(piece["call_id"]) ?? (piece["type"] === "local_shell_call_output" ? asText(piece["id"]) : undefined);
}
