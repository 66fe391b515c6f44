import { describe, expect, test } from "vitest";
import { opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import type { Summariser } from "../contracts/summariser.ts";
import type { Session } from "./session.ts";

/** Turns with one call each, whose words say which turn they are of. */
async function talk(session: Session, turns: number) {
  for (let nth = 0; nth < turns; nth += 1)
    await watch(
      session.run(`question ${nth}`, {
        model: scripted([{ calls: [{ name: "step", input: { n: `call-${nth}` } }] }, { text: `answer ${nth}` }]),
      }),
    );
}

/** What the next request shows of the conversation. */
async function shown(session: Session): Promise<string> {
  let items: unknown;
  const model = scripted(({ request }) => {
    items = (request as { readonly items: unknown }).items;
    return { text: "ok" };
  });
  await watch(session.run("and now?", { model }));
  return JSON.stringify(items);
}

describe("a boundary that takes its time", () => {
  test("[BOUNDARY-15] shows nothing of what a rewind took back meanwhile", async () => {
    const { session } = await opened();
    await talk(session, 4);
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const summariser: Summariser = {
      name: "slow",
      summarise: async ({ items }) => {
        asked.resolve();
        await gate.promise;
        return { text: `In short: ${JSON.stringify(items)}` };
      },
    };
    const compacted = session.compact({ summariser, tail: 0, said: 0 });
    await asked.promise;
    await session.rewind({ before: session.checkpoints.list()[1]!.callId });
    gate.resolve();
    expect(await compacted).toMatchObject({ crossed: true });
    const text = await shown(session);
    expect(text).toContain("In short");
    expect(text).toContain("answer 0");
    expect(text).not.toMatch(/call-[123]|answer [123]|question [23]/);
  });
});
