import { backAndAside } from "./acts/back-and-aside.ts";
import { brokenSession } from "./acts/broken-session.ts";
import { failingTool } from "./acts/failing-tool.ts";
import { killed } from "./acts/killed.ts";
import { planMode } from "./acts/plan-mode.ts";
import { squeezed } from "./acts/squeezed.ts";
import { twoEdits } from "./acts/two-edits.ts";
import type { Theatre } from "./stage.ts";

interface Act {
  readonly name: string;
  readonly title: string;
  readonly play: (theatre: Theatre) => Promise<void>;
}

const ACTS: readonly Act[] = [
  { name: "failing-tool", title: "A tool fails halfway, and leaves no trace.", play: failingTool },
  { name: "two-edits", title: "Two calls edit one file at the same time.", play: twoEdits },
  { name: "killed", title: "The process is killed in the middle of a call.", play: killed },
  { name: "broken-session", title: "Another tool has left a broken session.", play: brokenSession },
  { name: "squeezed", title: "The model gets a quarter of the tokens.", play: squeezed },
  { name: "plan-mode", title: "Plan mode begins, and the model tries to write anyway.", play: planMode },
  { name: "back-and-aside", title: "Back to the first edit, and into a fork.", play: backAndAside },
];

/** Act by act. One that breaks down is a claim that did not hold, and the story ends there: the next needs what it left. */
export async function tellStory(theatre: Theatre): Promise<void> {
  const { show } = theatre;
  show.title("holdfast demo: one session, a real folder, SQLite, and a provider that refuses");
  show.title("whatever real ones refuse. The model follows a script; everything else is real.");
  for (const [at, { name, title, play }] of ACTS.entries()) {
    await show.act(name, `${at + 1}/${ACTS.length}`, title);
    try {
      await play(theatre);
    } catch (error) {
      return show.claim(`the act came to its end (${error instanceof Error ? error.message : String(error)})`, false);
    }
  }
}
