import { createHoldfast } from "../../index.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";
import { closing, KILLED_AT, opening, QUESTION, SCRIPT } from "./demo-script.ts";

/** What the child tells its parent, after the commit returned and not before. */
export type ChildSays =
  | { readonly said: "closed"; readonly index: number; readonly tool: string; readonly seq: number }
  | { readonly said: "opened"; readonly index: number; readonly tool: string; readonly seq: number };

/** The first half of the demo, in a process of its own, because it will be killed. */
export async function runChild(store: string, session: string, say: (line: ChildSays) => void): Promise<never> {
  const holdfast = await createHoldfast({ store: sqlite(store) });
  const opened = await holdfast.open(session);
  await opened.append({ kind: "user-said", text: QUESTION });
  for (const [index, call] of SCRIPT.entries()) {
    const [answer, open, callId] = opening(opened.id, index, call);
    const { last } = await opened.append([answer, open]);
    if (index === KILLED_AT) {
      say({ said: "opened", index, tool: call.tool, seq: last });
      await new Promise(() => setInterval(() => {}, 1000)); // the tool is "running"; nobody will ever tell how it ended
    }
    const closed = await opened.append(closing(callId, call));
    say({ said: "closed", index, tool: call.tool, seq: closed.last });
  }
  throw new Error("the demo's child should have been killed");
}
