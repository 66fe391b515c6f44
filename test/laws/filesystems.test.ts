import { afterEach, test } from "vitest";
import { ExecutionState, filesOf, filesPart, InMemoryFilesystem } from "../../src/index.ts";
import { filesystemLaws, register } from "../../src/testing/entry.ts";
import { insideCall, inWorkspace, type Working } from "../support/workspaces.ts";

const opened: Working[] = [];
afterEach(async () => {
  for (const { session, holdfast } of opened.splice(0)) {
    for (const call of session.openCalls) await session.transactions.abort(call);
    await session.close();
    await holdfast.close();
  }
});

async function working(): Promise<Working> {
  const one = await inWorkspace();
  opened.push(one);
  return one;
}

register(filesystemLaws("in memory", { open: async () => new InMemoryFilesystem() }), test);
register(
  filesystemLaws("in a state", { open: async () => filesOf(ExecutionState.create({ parts: [filesPart] })) }),
  test,
);
register(filesystemLaws("in a folder", { open: async () => (await working()).session.files }), test);
register(filesystemLaws("in a call on a folder", { open: async () => insideCall((await working()).session) }), test);
