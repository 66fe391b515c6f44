import { QUESTION, FILES, KILLED_AT } from "./demo-script.ts";
import { setStage } from "./demo-work.ts";

/** What the child tells its parent, after the commit returned and not before. */
export interface ChildSays {
  readonly said: "closed" | "opened";
  readonly index: number;
  readonly tool: string;
  /** The newest acknowledged record. */
  readonly seq: number;
}

/** The first half of the demo, in a process of its own, because it will be killed. */
export async function runChild(store: string, session: string, say: (line: ChildSays) => void): Promise<never> {
  let index = 0;
  const untilKilled = () => new Promise<void>(() => setInterval(() => {}, 1000));
  const { holdfast, model } = await setStage(store, 0, untilKilled);
  const opened = await holdfast.open(session);
  for (const [path, text] of Object.entries(FILES)) await opened.files.writeText(path, text);
  for await (const event of opened.run(QUESTION, { model })) {
    const { seq } = opened.journal.head;
    if (event.kind === "call-opened" && index === KILLED_AT) say({ said: "opened", index, tool: event.tool, seq });
    if (event.kind !== "call-closed") continue;
    say({ said: "closed", index, tool: event.outcome.tool, seq });
    index += 1;
  }
  throw new Error("the demo's child should have been killed");
}
