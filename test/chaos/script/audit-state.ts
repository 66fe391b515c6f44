import type { JournalEntry } from "../../../src/journal/prove.ts";
import type { RecordDraft } from "../../../src/records/kinds.ts";
import type { Session } from "../../../src/turn/session.ts";
import { lookAt, textOf } from "./look.ts";
import { Story } from "./story.ts";

/**
 * I4: the state equals what the calls that succeeded make of it, one after the other in the order of their records; logs
 * hold more. And what is said of effects is what the world outside shows.
 */
export function auditState(
  session: Session,
  entries: readonly JournalEntry[],
  standing: ReadonlyMap<string, number>,
  say: (rule: string, what: string) => void,
): void {
  const story = new Story();
  for (const entry of entries) story.hear(asHeard(entry));
  for (const what of story.wrong) say("I4", `${session.id}: ${what}`);
  const [found, due] = [textOf(lookAt(session.state.root, 0)), textOf({ ...story.state, box: 0 })];
  if (found !== due) say("I4", `${session.id} is ${found}, and should be ${due}`);
  for (const [id, { standing: claimed }] of story.effects) {
    const times = standing.get(id) ?? 0;
    const honest =
      claimed === "undone" ? times === 0 : claimed === "done" || claimed === "not-undone" ? times === 1 : true;
    if (!honest || times > 1) say("I4", `effect ${id} is called ${claimed} and stands ${times} times`);
  }
}

/** A body that was dropped because no boundary needs it: only that there was a change is left. */
function asHeard(entry: JournalEntry): RecordDraft {
  if (entry.kind !== "dropped") return entry as RecordDraft;
  return { kind: entry.was, dropped: true, delta: {}, cause: "", openCalls: [] } as unknown as RecordDraft;
}
