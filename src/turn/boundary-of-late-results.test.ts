import { expect, test } from "vitest";
import { steps, writes } from "../../test/support/calls.ts";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import type { ModelRequest } from "../contracts/model.ts";

test("[BOUNDARY-17] what left stays away, also where the last of it ended first and is told as a note now", async () => {
  const written = Promise.withResolvers<void>();
  const write = writes("write", (_, call) => {
    call.dispatch(steps.added("one"));
    return "written first";
  });
  const slow = writes("slow", () => written.promise.then(() => "read last"), { access: "read" });
  const { session } = await opened(undefined, { tools: [write, slow] });
  const sent: ModelRequest[] = [];
  const model = scripted(({ request, nth }) => {
    sent.push(request as ModelRequest);
    return nth === 0 ? { calls: [{ name: "slow" }, { name: "write" }] } : { text: "Done." };
  });
  await watch(session.run("go", { model }), (event) => {
    if (event.kind === "call-closed") written.resolve();
  });
  expect(await session.prune({ keep: 1 })).toMatchObject({ crossed: true });
  await session.setMode("plan");
  await watch(session.run("and now?", { model }));
  const said = JSON.stringify(sent.at(-1)!.items);
  expect(said).not.toContain("read last");
  expect(said).not.toContain("written first");
  expect(session.context.view!.dropped).toEqual([]);
});
