import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

// anthropics/claude-code#28078: rewinding in session B deleted the uncommitted work of session A in the same folder.
test("[HOST-11] a rewind touches what its own session changed, and where another session has been since, nothing", async () => {
  const { run, put, text, session, holdfast } = await work();
  put("shared", "old");
  put("theirs", "old");
  const other = await holdfast.open("other");
  const { callId } = await run(({ files }) => files.writeText("shared", "ours"));
  await run(({ files }) => files.writeText("ours", "ours"));
  await run(
    async ({ files }) => {
      await files.writeText("shared", "theirs");
      await files.writeText("theirs", "theirs");
      await files.writeText("new", "theirs");
    },
    "hand",
    other,
  );
  const { files } = await session.rewind({ before: callId });
  expect(["shared", "theirs", "new", "ours"].map(text)).toEqual(["theirs", "theirs", "theirs", undefined]);
  expect(files?.kept).toEqual([{ path: "shared", why: "changed" }]);
  await other.close();
});
