import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { textIn } from "../project.ts";
import { onStage, type Stage, type Theatre } from "../stage.ts";
import { steps } from "../tools.ts";

/** Goes on from the middle in a new session, and takes the old one back to its first edit. */
export function backAndAside(theatre: Theatre): Promise<void> {
  return onStage(theatre, (stage) => goBack(theatre, stage));
}

async function goBack({ show, workspace, folder }: Theatre, { session, holdfast }: Stage): Promise<void> {
  const edits = session.checkpoints.list().filter(({ tool, status }) => tool === "edit_file" && status === "success");
  const [firstEdit, secondEdit] = edits;
  if (firstEdit === undefined || secondEdit === undefined) return show.claim("there are edits to go back to", false);
  appendFileSync(join(workspace, "notes.md"), "- written by a person meanwhile\n");

  const aside = join(folder, "shop-try-again");
  const fork = await session.fork({ after: secondEdit.callId, as: "try-again", workspace: aside });
  const planned = await session.rewind({ before: firstEdit.callId, dryRun: true });
  const done = await session.rewind({ before: firstEdit.callId });
  for (const { path, does } of done.files?.files ?? [])
    if (does !== "nothing") show.text(`  ${does.padEnd(8)} ${path}`);
  await show.claim(
    "the rewind did what its dry run had said",
    JSON.stringify(planned.files?.files) === JSON.stringify(done.files?.files) && planned.to === done.to,
  );
  const back = ["src/cart.ts", "src/report.ts", "src/cart.test.ts"].every((path) =>
    textIn(workspace, path).includes("total("),
  );
  await show.claim(
    "files and state are as before the first edit",
    back && session.state.session.get(steps).length === 0,
  );
  await show.claim("what a person wrote meanwhile is still there", textIn(workspace, "notes.md").includes("a person"));
  const forked = textIn(aside, "src/cart.ts").includes("sum(") && textIn(aside, "src/report.ts").includes("total(");
  await show.claim(
    "the fork stands after the second edit, in its own folder",
    forked && fork.state.session.get(steps).length === 2,
  );
  await fork.close();
  const report = await holdfast.verify();
  const records = report.sessions.reduce((sum, one) => sum + one.records, 0);
  show.note("records", records);
  await show.claim(`${records} records: every checksum and every link is proven`, report.ok && records > 0);
}
