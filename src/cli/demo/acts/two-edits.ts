import { setTimeout as pause } from "node:timers/promises";
import { textIn } from "../project.ts";
import { onStage, type Stage, type Theatre } from "../stage.ts";

const PATIENCE_MS = 10_000;

/** Two calls of one answer read the same file before either has written it. */
export function twoEdits(theatre: Theatre): Promise<void> {
  return onStage(theatre, (stage) => edit(theatre, stage));
}

async function edit({ show, workspace }: Theatre, stage: Stage): Promise<void> {
  const meeting = new Meeting(2);
  stage.witness.meet = () => meeting.arrive();
  const change = (find: string, replace: string) => ({
    name: "edit_file",
    input: { path: "src/cart.ts", find, replace },
  });
  const { outcomes } = await stage.turn("Go on, and make the parameter readonly.", [
    { text: "Both in one go.", calls: [change("total", "sum"), change("number[]", "readonly number[]")] },
    { text: "Both are in." },
  ]);
  const text = textIn(workspace, "src/cart.ts");
  await show.claim("both read the file before either wrote it", meeting.met);
  await show.claim(
    "both edits are in the file; neither undid the other",
    outcomes.every(({ ok }) => ok) && text.includes("sum(") && text.includes("readonly number[]"),
  );
  await show.claim(
    "the second one ran again, on the result of the first",
    stage.witness.edits === 3 && outcomes.length === 2,
  );
}

/** Waits until so many have come, and lets everybody through after that. */
class Meeting {
  readonly #open = Promise.withResolvers<void>();
  #missing: number;

  constructor(people: number) {
    this.#missing = people;
  }

  get met(): boolean {
    return this.#missing <= 0;
  }

  async arrive(): Promise<void> {
    this.#missing -= 1;
    if (this.met) this.#open.resolve();
    await Promise.race([this.#open.promise, pause(PATIENCE_MS, undefined, { ref: false })]);
  }
}
