import { expect, test } from "vitest";
import { work } from "../support/workspaces.ts";

// echoVic/blade-agent-sdk#2: a tool that ignored its abort wrote into the workspace after it had been rolled back.
test("[HOST-1] [TX-19] a handle that outlives its call writes nothing, to no file and beside none", async () => {
  const { run, put, text, files } = await work();
  put("f", "old");
  const late = Promise.withResolvers<void>();
  const tried = Promise.withResolvers<unknown>();
  const { ok } = await run(async (call) => {
    await call.files.writeText("f", "during");
    void late.promise.then(() => call.files.writeText("f", "late")).then(tried.resolve, tried.resolve);
    return call.fail("no", "no");
  });
  late.resolve();
  expect(await tried.promise).toMatchObject({ code: "CALL_CLOSED" });
  expect([ok, text("f"), await files.glob("**")]).toEqual([false, "old", ["f"]]);
});
