import { join } from "node:path";
import { expect } from "vitest";
import { readEntries } from "../../src/index.ts";
import { startChild } from "../support/children.ts";
import { scratchFolder } from "../support/places.ts";
import { holdfastAt, storyOf } from "../support/sessions.ts";
import { collect, said } from "../support/stores.ts";
import { testTogether } from "../support/together.ts";

const folder = scratchFolder();
const path = join(folder, "store.db");

const WRITER = `
  import { createHoldfast } from "@/index.ts";
  import { sqlite } from "@/stores/sqlite/entry.ts";
  const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(path)}) });
  const session = await holdfast.open("s");
  await session.append({ kind: "user-said", text: "from the other process" });
  say("holding");
  await told();
  await session.append({ kind: "user-said", text: "still mine" });
  await session.close();
  await holdfast.close();
  say("closed");
`;

testTogether(
  "[R10] [K46] a second process is refused for writing and may read; after the first closed it continues",
  async () => {
    const child = startChild(WRITER);
    await child.said("holding");
    const holdfast = await holdfastAt(path);
    await expect(holdfast.open("s")).rejects.toMatchObject({ code: "SESSION_BUSY" });
    const seen = await collect(readEntries(holdfast.store, "s" as never));
    expect(seen.map((entry) => entry.kind)).toEqual(["session-created", "user-said"]);
    await using fork = await holdfast.fork("s", { as: "mine" });
    await fork.append(said("on my own"));
    child.tell("go on");
    await child.said("closed");
    expect(await child.ended()).toBe(0);
    const session = await holdfast.open("s");
    expect(session.journal.opened.previousWriter).toBe("closed");
    await session.append(said("now me"));
    expect(await storyOf(session)).toEqual(["session-created", "from the other process", "still mine", "now me"]);
    await session.close();
    await fork.close();
    await holdfast.close();
  },
);

testTogether("[K46] processes that append to sessions of one store at once lose nothing", async () => {
  const shared = join(folder, "shared", "store.db");
  const script = (name: string) => `
    import { createHoldfast } from "@/index.ts";
    import { sqlite } from "@/stores/sqlite/entry.ts";
    const holdfast = await createHoldfast({ store: sqlite(${JSON.stringify(shared)}) });
    const session = await holdfast.open("${name}");
    for (let n = 0; n < 100; n += 1) await session.append({ kind: "user-said", text: String(n) });
    await session.close();
    await holdfast.close();
  `;
  const names = ["a", "b", "c", "d"];
  expect(await Promise.all(names.map((name) => startChild(script(name)).ended()))).toEqual([0, 0, 0, 0]);
  const holdfast = await holdfastAt(shared);
  for (const name of names) {
    const session = await holdfast.open(name);
    expect(await storyOf(session)).toEqual(["session-created", ...Array.from({ length: 100 }, (_, n) => `${n}`)]);
    await session.close();
  }
  await holdfast.close();
});
