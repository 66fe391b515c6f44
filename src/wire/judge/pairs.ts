import type { ProfileId } from "../profiles.ts";
import { callsOf, resultsOf, type Turn } from "./turn.ts";

/** Where a rule is broken. */
export interface Breach {
  readonly at: number;
  readonly detail: string;
}

/** The messages among which a provider that reads by place looks for the results of an answer's calls. */
function window(turns: readonly Turn[], at: number, profile: ProfileId): readonly Turn[] {
  if (profile === "anthropic" || profile === "gemini") return turns.slice(at + 1, at + 2);
  let end = at + 1;
  while (turns[end]?.role === "tool") end += 1;
  return turns.slice(at + 1, end);
}

export function unanswered(turns: readonly Turn[], profile: ProfileId): readonly Breach[] {
  const answered = profile === "openai-responses" ? answeredLater(turns) : undefined;
  const waiting = consented(turns);
  return turns.flatMap((turn) => {
    const calls = callsOf(turn);
    if (calls.length === 0) return [];
    const results = answered === undefined ? window(turns, turn.at, profile).flatMap(resultsOf) : [];
    const ids = new Set(results.map((result) => result.id));
    let unnamed = results.filter((result) => result.id === undefined).length;
    const lost = calls.filter((call) => {
      if (profile === "ai-sdk" && waiting.has(call.id ?? "")) return false;
      if (answered !== undefined) return (answered.get(`${call.space} ${call.id}`) ?? -1) < turn.at;
      if (call.id !== undefined && ids.has(call.id)) return false;
      return profile === "gemini" ? unnamed-- <= 0 : true;
    });
    return lost.map((call) => ({ at: turn.at, detail: `${call.name} ${call.id ?? ""}` }));
  });
}

/** Where the last result of each id stands. */
function answeredLater(turns: readonly Turn[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const turn of turns) for (const result of resultsOf(turn)) last.set(`${result.space} ${result.id}`, turn.at);
  return last;
}

/** Calls that somebody consented to or denied at the very end: the host runs or answers them next. */
function consented(turns: readonly Turn[]): ReadonlySet<string> {
  const end = turns.findLastIndex((turn) => turn.role !== "tool");
  const asked = new Map<string, string>();
  for (const block of turns[end]?.blocks ?? []) {
    if (block.is === "ask" && block.id !== undefined) asked.set(block.approval, block.id);
  }
  const replies = turns.slice(end + 1).flatMap((turn) => turn.blocks);
  return new Set(replies.flatMap((block) => (block.is === "consent" ? [asked.get(block.approval) ?? ""] : [])));
}

/** Results whose call is not where the provider looks for it. */
export function unasked(turns: readonly Turn[], profile: ProfileId, continues: boolean): readonly Breach[] {
  const seen = new Set<string>();
  let open: ReadonlySet<string> = seen;
  let unnamed = 0;
  let kept = continues && profile === "openai-responses"; // what the provider keeps may hold any call, as a reference may
  return turns.flatMap((turn) => {
    const calls = callsOf(turn);
    kept ||= turn.blocks.some((block) => block.is === "reference");
    if (kept) return [];
    if (profile === "openai-responses") for (const call of calls) seen.add(`${call.space} ${call.id}`);
    else if (turn.role === "assistant") {
      open = new Set(calls.map((call) => ` ${call.id}`));
      const answered = new Set(resultsOf(turns[turn.at + 1]).map((result) => result.id));
      unnamed = calls.filter((call) => call.id === undefined || !answered.has(call.id)).length;
    } else if (turn.role !== "tool" && resultsOf(turn).length === 0) open = new Set();
    const stray = resultsOf(turn).filter((result) => {
      if (result.id === undefined && profile === "gemini") return unnamed-- <= 0;
      return !open.has(`${result.space} ${result.id}`);
    });
    return stray.map((result) => ({ at: turn.at, detail: result.id ?? result.name ?? "" }));
  });
}

export function repeated(turns: readonly Turn[], profile: ProfileId): readonly Breach[] {
  let seen = new Set<string>();
  return turns.flatMap((turn) => {
    if (profile !== "openai-responses" && turn.role === "assistant") seen = new Set();
    return resultsOf(turn).flatMap((result) => {
      if (result.id === undefined) return [];
      const key = `${result.space} ${result.id}`;
      const again = seen.has(key);
      seen.add(key);
      return again ? [{ at: turn.at, detail: result.id }] : [];
    });
  });
}

/** Names and order of results against their calls. */
export function misnamed(turns: readonly Turn[], profile: ProfileId): readonly Breach[] {
  return turns.flatMap((turn) => {
    const calls = callsOf(turn);
    if (calls.length === 0) return [];
    const results = window(turns, turn.at, profile).flatMap(resultsOf);
    const byId = new Map(calls.toReversed().map((call) => [call.id, call]));
    return results.flatMap((result, nth) => {
      const call = result.id === undefined ? calls[nth] : byId.get(result.id);
      const wrong = call !== undefined && result.name !== undefined && result.name !== call.name;
      return wrong ? [{ at: turn.at, detail: `${result.name} for ${call.name}` }] : [];
    });
  });
}

/** Answers whose results are not as many as the calls, or stand in another order. */
export function uncounted(turns: readonly Turn[], profile: ProfileId): readonly Breach[] {
  return turns.flatMap((turn) => {
    const calls = callsOf(turn);
    if (calls.length === 0) return [];
    const results = window(turns, turn.at, profile).flatMap(resultsOf);
    const ordered = results.every((result, nth) => result.id === undefined || result.id === calls[nth]?.id);
    if (results.length === calls.length && ordered) return [];
    return [{ at: turn.at, detail: `${calls.length} calls, ${results.length} results` }];
  });
}
