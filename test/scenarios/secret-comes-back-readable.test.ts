import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

// Measured with git snapshots: 0600 came back as 0644, setuid and empty folders were lost, CRLF changed. Others restored
// through a link and wrote outside (UKGovernmentBEIS/inspect_ai#5238, halfline/git-stage-batch#226).
test("[HOST-2] [HOST-10] [K38] what a rewind brings back has the mode, the bytes and the shape it had", async () => {
  const { run, put, session, on, text } = await work();
  put("secret", "key\r\n");
  chmodSync(on("secret"), 0o600);
  put("tool", "bin");
  chmodSync(on("tool"), 0o4711);
  mkdirSync(on("dir/empty"), { recursive: true });
  chmodSync(on("dir/empty"), 0o700);
  symlinkSync("../secret", on("dir/link"));
  const { ok, callId } = await run(async ({ files }) => {
    await files.delete("secret");
    await files.delete("tool");
    await files.delete("dir", { recursive: true });
  });
  await session.rewind({ before: callId });
  const mode = (path: string) => statSync(on(path)).mode & 0o7777;
  expect([ok, mode("secret"), mode("tool"), mode("dir/empty")]).toEqual([true, 0o600, 0o4711, 0o700]);
  expect([text("secret"), text("dir/link")]).toEqual(["key\r\n", "key\r\n"]);
});

test("[HOST-17] a link put in the place of a folder is not written through by a rewind", async () => {
  const { run, put, session, on, root } = await work();
  put("dir/f", "old");
  const { callId } = await run(({ files }) => files.writeText("dir/f", "new"));
  const outside = `${root}-outside`;
  mkdirSync(outside);
  writeFileSync(join(outside, "f"), "theirs");
  renameSync(on("dir"), on("moved"));
  symlinkSync(outside, on("dir"));
  const { files } = await session.rewind({ before: callId });
  expect([readFileSync(join(outside, "f"), "utf8"), files?.kept]).toEqual([
    "theirs",
    [{ path: "dir/f", why: "removed" }],
  ]);
});
