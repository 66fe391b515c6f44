import { expect, test } from "vitest";
import { freshRoot } from "../support/workspaces.ts";
import { memoryDeps } from "../support/stores.ts";
import { type HostPort, realHost } from "../../src/files/host/port.ts";
import { openJournal } from "../../src/journal/open.ts";
import { openSqlite } from "../../src/stores/sqlite/open.ts";
import { Workspaces } from "../../src/turn/workspaces.ts";

/** A disk that from some moment on shows nobody what lies in its folders. */
function closing(state: { refuses?: true }): HostPort {
  return {
    ...realHost,
    names: (path) => {
      if (state.refuses) throw Object.assign(new Error("the disk"), { code: "EIO" });
      return realHost.names(path);
    },
  };
}

const IO = expect.objectContaining({ code: "WORKSPACE_IO" });

test("[TURN-89] every folder is given free when some cannot be closed in order, and each that cannot is told", async () => {
  const deps = { ...memoryDeps(), store: await openSqlite(freshRoot().store) };
  const folders = new Workspaces(deps);
  const disk: { refuses?: true } = {};
  const opened = ["a", "b", "c"].map((name) => ({ name, root: freshRoot().root }));
  for (const { name, root } of opened) {
    const port = name === "b" ? realHost : closing(disk);
    await folders.attach({ root, port }, await openJournal(deps, name), undefined);
  }
  disk.refuses = true;
  const failed: unknown = await folders.close().catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "WORKSPACE_IO", cause: { errors: [IO, IO] } });
  const next = new Workspaces(deps);
  for (const { name, root } of opened) await next.attach(root, await openJournal(deps, `${name}2`), undefined);
  await next.close();
  await deps.store.close();
});
