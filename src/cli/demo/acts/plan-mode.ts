import type { Model } from "../../../index.ts";
import { pictureOf } from "../project.ts";
import { onStage, type Stage, type Theatre } from "../stage.ts";

/** Plan mode begins while a request is on its way; then the model tries to write all the same. */
export function planMode(theatre: Theatre): Promise<void> {
  return onStage(theatre, (stage) => plan(theatre, stage));
}

async function plan({ show, workspace }: Theatre, stage: Stage): Promise<void> {
  const { session, provider } = stage;
  let flipped = false;
  const flipping: Model = {
    ...stage.model,
    async *ask(request, options) {
      if (!flipped) await session.setMode("plan", "the user wants to see a plan first");
      flipped = true;
      yield* stage.model.ask(request, options);
    },
  };
  const before = pictureOf(workspace);
  const edit = { name: "edit_file", input: { path: "src/cart.ts", find: "sum", replace: "leak" } };
  const { outcomes } = await stage.turn(
    "How would you round prices?",
    [{ text: "I just do it.", calls: [edit, { name: "count_lines", input: {} }] }, { text: "That is my plan." }],
    { model: flipping },
  );
  const [first] = provider.requests;
  const { faults } = session.alignment;
  await show.claim("a prompt that still spoke of act mode was caught and rebuilt", faults["mode-mismatch"] === 1);
  await show.claim("it was never sent: the provider got one that speaks of plan mode", saysPlan(first?.body));
  await show.claim("the edit, which was not offered, did not run", outcomes[0]?.ok === false && !offers(first?.body));
  await show.claim(
    "a tool that claims it only reads wrote a file, and its change did not stay",
    outcomes[1]?.ok === false,
  );
  await show.claim("every byte of the folder is as it was before", pictureOf(workspace) === before);
  await session.setMode("act", "the plan was read");
}

function saysPlan(body: unknown): boolean {
  return /plan mode/i.test(JSON.stringify(body));
}

function offers(body: unknown): boolean {
  const { tools = [] } = (body ?? {}) as { readonly tools?: readonly { readonly name: string }[] };
  return tools.some(({ name }) => name === "edit_file");
}
