import { expect, test } from "vitest";
import { freshRoot, work } from "../support/workspaces.ts";

// anomalyco/opencode#10287 (1,300 committed lines removed) and #7774: the undo read an index shared by all sessions, and
// brought back whatever it had last seen. unarbos/arbos#390: an empty checkpoint, restored with success.
test("[HOST-10] [HOST-11] an undo after weeks of other people's work undoes its own call, in whichever process", async () => {
  const at = freshRoot();
  const first = await work({}, at);
  first.put("app.ts", "line 1\nline 2\n");
  first.put("lib.ts", "old");
  const { callId } = await first.run(({ files }) => files.edit("app.ts", { find: "line 2", replace: "line two" }));
  await first.session.close();
  await first.holdfast.close();
  first.put("lib.ts", "1,300 new lines");
  first.put("more/new.ts", "new");
  const later = await work({}, at);
  const dry = await later.session.rewind({ before: callId, dryRun: true });
  expect(dry.files).toEqual({ files: [{ path: "app.ts", does: "restore" }], kept: [], unlike: [] });
  await later.session.rewind({ before: callId });
  expect(["app.ts", "lib.ts", "more/new.ts"].map(later.text)).toEqual(["line 1\nline 2\n", "1,300 new lines", "new"]);
});
