import { pictureOf } from "../project.ts";
import { onStage, type Stage, type Theatre } from "../stage.ts";
import { steps } from "../tools.ts";

/** A tool changes two files and a slice, and then fails. */
export function failingTool(theatre: Theatre): Promise<void> {
  return onStage(theatre, (stage) => fail(theatre, stage));
}

async function fail({ show, workspace }: Theatre, stage: Stage): Promise<void> {
  const { session, witness, provider } = stage;
  const before = pictureOf(workspace);
  const paths = ["src/cart.ts", "src/report.ts", "src/tax.ts"];
  const { outcomes } = await stage.turn("Rename `total` to `sum` everywhere.", [
    { text: "All at once.", calls: [{ name: "rename", input: { from: "total", to: "sum", paths } }] },
    { text: "Then I go file by file." },
  ]);
  const [outcome] = outcomes;
  await show.claim("the tool had changed two files and a slice when it failed", witness.renamed.length === 2);
  await show.claim("every byte of the folder is as it was before", pictureOf(workspace) === before);
  await show.claim("so is the slice", session.state.session.get(steps).length === 0);
  const told = JSON.stringify(provider.requests.at(-1)?.body);
  await show.claim(
    "the model was told why, once",
    outcome?.reason === "not-found" && told.split("There is no src/tax.ts.").length === 2,
  );
}
