import type { WireProfile } from "../profiles.ts";
import { isSendable } from "../text.ts";
import type { Breach } from "./pairs.ts";
import { type Block, callsOf, resultsOf, type Turn } from "./turn.ts";

/** Rules about the form of messages, apart from pairing. */

/** Two calls under one call id, or two items under one id. */
export function repeatedIds(turns: readonly Turn[]): readonly Breach[] {
  const seen = new Set<string>();
  const isAgain = (key: string) => seen.has(key) || !seen.add(key);
  return turns.flatMap((turn) => {
    const calls = callsOf(turn).filter(({ id, space }) => id !== undefined && isAgain(`call ${space} ${id}`));
    const item = turn.id !== undefined && isAgain(`item ${turn.id}`) ? [turn.id] : [];
    return [...item, ...calls.map(({ id }) => id ?? "")].map((detail) => ({ at: turn.at, detail }));
  });
}

export function badIds(turns: readonly Turn[], { callIds, format }: WireProfile): readonly Breach[] {
  const bad = (id: string | undefined) =>
    id === undefined ? format !== "gemini" : id.length > callIds.maxLength || !callIds.pattern.test(id);
  const pairable = (turn: Turn) => [...callsOf(turn), ...resultsOf(turn)];
  return breaches(turns, pairable, ({ id }) => (bad(id) ? (id ?? "") : undefined));
}

export function badNames(turns: readonly Turn[], profile: WireProfile): readonly Breach[] {
  return breaches(turns, callsOf, ({ name }) => (isBadName(name, profile) ? name : undefined));
}

/** Tools stand beside the messages, so none of these is at fault. */
export function badOffers(tools: ReadonlySet<string> | undefined, profile: WireProfile): readonly Breach[] {
  return [...(tools ?? [])].filter((name) => isBadName(name, profile)).map((detail) => ({ at: 0, detail }));
}

function isBadName(name: string, { toolNames }: WireProfile): boolean {
  return name.length > toolNames.maxLength || !toolNames.pattern.test(name);
}

export function resultsNotFirst(turns: readonly Turn[]): readonly Breach[] {
  return turns.flatMap((turn) => {
    const other = turn.blocks.findIndex((block) => block.is !== "result");
    const late = other !== -1 && turn.blocks.slice(other).some((block) => block.is === "result");
    return late ? [{ at: turn.at, detail: "a result after other content" }] : [];
  });
}

export function sameRoleTwice(turns: readonly Turn[]): readonly Breach[] {
  return turns.flatMap((turn, nth) => {
    const repeats =
      nth > 0 && turns[nth - 1]?.role === turn.role && (turn.role === "user" || turn.role === "assistant");
    return repeats ? [{ at: turn.at, detail: turn.role }] : [];
  });
}

export function notUserFirst(turns: readonly Turn[]): readonly Breach[] {
  const first = turns.find((turn) => turn.role !== "system");
  return first === undefined || first.role === "user" ? [] : [{ at: first.at, detail: first.role }];
}

export function assistantLast(turns: readonly Turn[], profile: WireProfile): readonly Breach[] {
  const last = turns.at(-1);
  if (!profile.userLast || last?.role !== "assistant" || callsOf(last).length > 0) return [];
  return [{ at: last.at, detail: "ends with the assistant" }];
}

export function trailingSpace(turns: readonly Turn[]): readonly Breach[] {
  const last = turns.at(-1);
  const block = last?.role === "assistant" ? last.blocks.at(-1) : undefined;
  const ends = last !== undefined && block?.is === "text" && isOpenEnded(block.text);
  return ends ? [{ at: last.at, detail: "the last text ends in white space" }] : [];
}

/** Words, and then white space. */
function isOpenEnded(text: string): boolean {
  return text.trim() !== "" && text.trimEnd() !== text;
}

export function blank(turns: readonly Turn[], { refusesBlank }: WireProfile): readonly Breach[] {
  return turns.flatMap((turn) => {
    if (resultsOf(turn).some((result) => result.blank === true))
      return [{ at: turn.at, detail: "a result says nothing" }];
    if (turn.emptyCalls === true) return [{ at: turn.at, detail: "an empty list of calls" }];
    if (!refusesBlank || turn.role === "tool") return [];
    const empty =
      turn.blocks.length === 0 || turn.blocks.some((block) => block.is === "text" && block.text.trim() === "");
    return empty ? [{ at: turn.at, detail: "no content" }] : [];
  });
}

/** A thought must be followed by what it led to: in the same message, or as the next item. */
export function thoughtAlone(turns: readonly Turn[], { format }: WireProfile): readonly Breach[] {
  return turns.flatMap((turn, nth) => {
    if (turn.blocks.at(-1)?.is !== "thought") return [];
    const next = format === "openai-responses" ? turns[nth + 1] : undefined;
    return next?.role === "assistant" ? [] : [{ at: turn.at, detail: "nothing follows the reasoning" }];
  });
}

export function unsealed(turns: readonly Turn[]): readonly Breach[] {
  return turns.flatMap((turn) =>
    turn.blocks.some((block) => block.is === "thought" && !block.sealed)
      ? [{ at: turn.at, detail: "thinking without signature" }]
      : [],
  );
}

/** Once a request shows sealed calls, every answer of the current turn must show one on its first call. */
export function unsealedCalls(turns: readonly Turn[]): readonly Breach[] {
  if (!turns.some((turn) => callsOf(turn).some((call) => call.sealed))) return [];
  const turn = turns.findLastIndex((one) => one.role === "user" && resultsOf(one).length === 0);
  return turns.slice(turn + 1).flatMap((one) => {
    const [first] = callsOf(one);
    return first === undefined || first.sealed ? [] : [{ at: one.at, detail: first.name }];
  });
}

export function mediaNotTaken(turns: readonly Turn[]): readonly Breach[] {
  return breaches(turns, blocksOf, (block) =>
    block.is === "media" || block.is === "result" ? block.refused : undefined,
  );
}

export function mistypedTexts(turns: readonly Turn[]): readonly Breach[] {
  return breaches(turns, blocksOf, (block) =>
    block.is === "text" || block.is === "result" ? block.mistyped : undefined,
  );
}

export function bareMedia(turns: readonly Turn[]): readonly Breach[] {
  return breaches(turns, blocksOf, (block) => (block.is === "media" ? block.bare : undefined));
}

export function formlessContent(turns: readonly Turn[]): readonly Breach[] {
  return turns.flatMap(({ at, formless }) => (formless === true ? [{ at, detail: "no text and no list" }] : []));
}

export function looseParts(turns: readonly Turn[]): readonly Breach[] {
  return turns.flatMap(({ at, loose }) => (loose === true ? [{ at, detail: "no part" }] : []));
}

/** What only the assistant says, and what it never says. */
export function misplaced(turns: readonly Turn[], { format }: WireProfile): readonly Breach[] {
  const replies = format === "ai-sdk" ? ["tool"] : ["user", "tool"];
  return turns.flatMap(({ at, role, blocks }) => {
    if (role === "unknown" || format === "openai-responses") return []; // there everything is an item of its own
    return blocks.flatMap(({ is }) => {
      const wrong = MODELS.has(is) ? role !== "assistant" : REPLIES.has(is) && !replies.includes(role);
      return wrong ? [{ at, detail: `${is} under ${role}` }] : [];
    });
  });
}

const MODELS: ReadonlySet<Block["is"]> = new Set(["call", "thought", "ask"] as const);
const REPLIES: ReadonlySet<Block["is"]> = new Set(["result", "consent"] as const);

export function misformedArguments(turns: readonly Turn[]): readonly Breach[] {
  return breaches(turns, callsOf, ({ formed, name }) => (formed ? undefined : name));
}

export function misformedResults(turns: readonly Turn[]): readonly Breach[] {
  return breaches(turns, resultsOf, ({ formed, id, name }) => (formed ? undefined : (id ?? name ?? "")));
}

export function mediaInResults(turns: readonly Turn[]): readonly Breach[] {
  return breaches(turns, resultsOf, ({ media, id }) => (media === true ? (id ?? "") : undefined));
}

export function unknownRole(
  turns: readonly Turn[],
  messages: readonly unknown[],
  { refusesDeveloper }: WireProfile,
): readonly Breach[] {
  const isDevelopers = ({ at, role }: Turn) =>
    role === "system" && (messages[at] as { readonly role?: unknown }).role === "developer";
  return turns
    .filter((turn) => turn.role === "unknown" || (refusesDeveloper && isDevelopers(turn)))
    .map((turn) => ({ at: turn.at, detail: "unknown role" }));
}

export function notOffered(turns: readonly Turn[], tools: ReadonlySet<string> | undefined): readonly Breach[] {
  return breaches(turns, callsOf, ({ name }) => (tools?.has(name) === false ? name : undefined));
}

/**
 * Consents to something nobody asked, and questions nobody answered although the conversation went on. What the provider
 * keeps may hold any question, as a reference may.
 */
export function looseApprovals(turns: readonly Turn[], continues: boolean): readonly Breach[] {
  const asked = new Map<string, Turn>();
  const everAsked = new Set<string>();
  for (const { blocks } of turns) for (const block of blocks) if (block.is === "ask") everAsked.add(block.approval);
  const found: Breach[] = [];
  const answered = new Set(turns.flatMap((turn) => resultsOf(turn).map((result) => result.id)));
  let kept = continues;
  for (const turn of turns) {
    for (const block of turn.blocks) {
      kept ||= block.is === "reference";
      if (block.is === "ask" && !(block.id !== undefined && answered.has(block.id))) asked.set(block.approval, turn);
      else if (block.is === "ask") asked.delete(block.approval);
      if (block.is !== "consent") continue;
      const known = asked.delete(block.approval) || everAsked.has(block.approval);
      if (!known && !kept) found.push({ at: turn.at, detail: block.approval });
    }
  }
  for (const [approval, turn] of asked) if (turn !== turns.at(-1)) found.push({ at: turn.at, detail: approval });
  return found;
}

/** Every text of a message, wherever it stands. */
export function unsendableText(messages: readonly unknown[]): readonly Breach[] {
  return messages.flatMap((message, at) =>
    holdsBadText(message, new Set()) ? [{ at, detail: "NUL or lone surrogate" }] : [],
  );
}

function holdsBadText(value: unknown, seen: Set<object>): boolean {
  if (typeof value === "string") return !isSendable(value);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return false;
  seen.add(value);
  return Object.values(value).some((inner) => holdsBadText(inner, seen));
}

/** The answer whose results the model is about to read, where it no longer begins with the thought that led to it. */
export function lostThinking(turns: readonly Turn[]): readonly Breach[] {
  const last = turns.findLast((turn) => turn.role === "assistant");
  if (last === undefined || callsOf(last).length === 0 || resultsOf(turns[last.at + 1]).length === 0) return [];
  return last.blocks[0]?.is === "thought" ? [] : [{ at: last.at, detail: last.blocks[0]?.is ?? "" }];
}

/** A breach for every block that has something wrong with it, told by what is wrong. */
function breaches<B>(
  turns: readonly Turn[],
  blocksIn: (turn: Turn) => readonly B[],
  wrong: (block: B) => string | undefined,
): readonly Breach[] {
  return turns.flatMap((turn) =>
    blocksIn(turn).flatMap((block) => {
      const detail = wrong(block);
      return detail === undefined ? [] : [{ at: turn.at, detail }];
    }),
  );
}

function blocksOf({ blocks }: Turn): readonly Block[] {
  return blocks;
}
