import { checkWire, type WireRuleId } from "../../index.ts";
import type { Body, Dialect } from "./dialect.ts";

export interface Verdict {
  readonly message: string;
  readonly rules: readonly WireRuleId[];
}

/** What the provider would refuse this body for, in its words; nothing when it would take it. */
export function judge(body: Body, dialect: Dialect): Verdict | undefined {
  const fault = dialect.refuseBody(body);
  if (fault !== undefined) return { message: fault, rules: [] };
  const messages = dialect.messagesOf(body);
  // Not by its `thinking`: a script answers without a thought where a model would have had one, and takes that back again.
  const { tools, previous_response_id, conversation } = body;
  const faults = checkWire({ messages, tools, previous_response_id, conversation }, dialect.profile)
    // Taken by the provider, and trouble later.
    .filter(({ error }) => !error.startsWith("unquoted: accepted"));
  const [first] = faults;
  if (first === undefined) return undefined;
  return { message: worded(first.error, first.at, first.detail), rules: faults.map(({ rule }) => rule) };
}

/** The rule's text with the place it is about: `messages.N` is what is the same in every report of it. */
function worded(error: string, at: number, detail: string): string {
  const placed = error
    .replace("unquoted: ", "")
    .replaceAll("messages.N", `messages.${at}`)
    .replaceAll("[N]", `[${at}]`);
  const id = detail.split(" ").at(-1) ?? "";
  return id === "" ? placed : placed.replace(/(?:toolu_|call_)?…/, id);
}
