import { expect, test } from "vitest";
import { WorkspaceDigest } from "../state/default-slices.ts";
import { ExecutionState } from "../state/execution-state.ts";
import { digestOfFiles } from "./digest.ts";
import { InMemoryFilesystem } from "./memory.ts";

test("[FILE-17] the digest of a workspace is its listing in a few lines, the same for the same files, and a cache", async () => {
  const files = new InMemoryFilesystem();
  for (const path of ["src/a.ts", "src/deep/er/b.ts", "node_modules/x/index.js", "line\nbreak"])
    await files.writeText(path, "x");
  await files.link("link", "src/a.ts");
  const state = ExecutionState.create();
  const { session } = state;
  await session.dispatch(await digestOfFiles(files));
  const first = session.latest(WorkspaceDigest);
  expect(first?.digest.split("\n").slice(1)).toEqual([
    "line\\nbreak",
    "link@",
    "node_modules/",
    "src/",
    "  a.ts",
    "  deep/",
    "    er/",
  ]);
  const before = await state.snapshot();
  await files.writeText("src/a.ts", "changed, and not read for this");
  await session.dispatch(await digestOfFiles(files));
  expect(session.latest(WorkspaceDigest)).toEqual(first);
  await files.writeText("src/new.ts", "");
  await session.dispatch(await digestOfFiles(files));
  expect(session.latest(WorkspaceDigest)?.digest).not.toBe(first?.digest);
  await state.restore(before);
  expect(session.latest(WorkspaceDigest)).toBeUndefined();
  const few = await digestOfFiles(files, { names: 2, section: "s" });
  await session.dispatch(few);
  expect(session.latest(WorkspaceDigest)?.digest).toContain("… 2 more");
});
