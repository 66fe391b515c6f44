import { join } from "node:path";
import { expect, test } from "vitest";
import { startChild } from "../support/children.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { testTogether } from "../support/together.ts";

const folder = scratchFolder();

testTogether(
  "[K42] [K46] a killed writer's session is taken over at once, whole, with its open call closed, and only once",
  async () => {
    const path = join(folder, "store.db");
    const child = startChild(`
    import { callIdAt, createHoldfast, toSessionId } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
    const session = await holdfast.open("s", { leaseMs: 86_400_000 });
    await session.append({ kind: "user-said", text: "do it" });
    await session.append({ kind: "call-opened", callId: callIdAt(toSessionId("s"), 2, 0), tool: "rm", args: {} });
    say("acknowledged");
    await told();
  `);
    await child.said("acknowledged");
    const holdfast = await holdfastAt(path);
    await expect(holdfast.open("s")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    await child.kill();
    const session = await holdfast.open("s");
    expect(session.journal.opened.previousWriter).toBe("died");
    expect(session.recovered.closedCalls.length).toBe(1);
    const story = ["session-created", "do it", "call-opened", "call-closed", "session-recovered"];
    expect(await storyOf(session)).toEqual(story);
    await session.close();
    await holdfast.close();
    const again = await holdfastAt(path);
    expect(await storyOf(await again.open("s"))).toEqual(story);
    await again.close();
  },
);

test("[K42] a process killed in the middle of its appends loses none that it was told of", async () => {
  const path = join(folder, "busy", "store.db");
  const script = `
    import { createHoldfast } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
    const session = await holdfast.open("s");
    for (let n = 0; ; n += 1) {
      const { first } = await session.append({ kind: "user-said", text: "x".repeat(n % 5000) });
      say("ack " + first);
      if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  `;
  let acknowledged = 0;
  for (let round = 0; round < 3; round += 1) {
    const child = startChild(script);
    for (let n = 0; n < 30 + round * 17; n += 1) acknowledged = Number((await child.said("ack")).split(" ")[1]);
    await child.kill();
    const holdfast = await holdfastAt(path);
    const session = await holdfast.open("s");
    expect(session.journal.head.seq).toBeGreaterThanOrEqual(acknowledged);
    expect(await holdfast.verify()).toMatchObject({ ok: true });
    await session.close();
    await holdfast.close();
  }
});
