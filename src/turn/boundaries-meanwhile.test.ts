import { describe, expect, test } from "vitest";
import { OPTIONS, opened } from "../../test/support/durable.ts";
import { scripted, watch } from "../../test/support/loop.ts";
import { between, memoryDeps } from "../../test/support/stores.ts";
import { countingIds } from "../base/ids.ts";
import type { Summariser } from "../contracts/summariser.ts";
import { Holdfast } from "./holdfast.ts";
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

  /** Never answers, and hears no signal. */
  const stuck = (asked: () => void): Summariser => ({
    name: "stuck",
    summarise: () => {
      asked();
      return new Promise(() => {});
    },
  });

  test("[LOOP-8] a turn is stopped while whoever sums up neither answers nor listens", async () => {
    const controller = new AbortController();
    const summariser = stuck(() => controller.abort());
    const { session } = await opened(undefined, { context: { window: 12_000, compaction: { at: 0.2, summariser } } });
    const long = "lorem ipsum ".repeat(500);
    await watch(session.run(long, { model: scripted([{ text: long }]) }));
    const model = scripted([{ text: "never asked" }]);
    const { end, events } = await watch(session.run(long, { model, signal: controller.signal }));
    expect(events.map(({ kind }) => kind)).toEqual(["compaction-failed", "end"]);
    expect(end.status).toBe("aborted");
  });

  test("[BOUNDARY-19] and so is a compaction with a signal: everything is as it was", async () => {
    const { session } = await opened();
    await talk(session, 3);
    const controller = new AbortController();
    const summariser = stuck(() => controller.abort());
    const how = { summariser, tail: 0, said: 0, signal: controller.signal };
    await expect(session.compact(how)).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
    await expect(session.compact(how)).rejects.toMatchObject({ code: "SUMMARY_FAILED" });
    expect(await shown(session)).toContain("answer 0");
  });
});

describe("a compaction that is refused", () => {
  /** A store whose shelf for the project nobody can reach, and a change that waits for it. */
  async function withShelfDown(at: number, asked: () => void) {
    const deps = memoryDeps();
    const store = between(deps.store, {
      before: (batch) => {
        if ("session" in batch && String(batch.session).startsWith("pages:")) throw new Error("unplugged");
        return undefined;
      },
    });
    const summariser: Summariser = {
      name: "asked",
      summarise: async () => {
        asked();
        return { text: "In short." };
      },
    };
    const context = { window: 12_000, compaction: { at, summariser } };
    const session = await new Holdfast({ ...deps, store }, { ...OPTIONS, ids: countingIds(), context }).open("s");
    const rule = { kind: "constraint", page: "p", field: "text", value: "Never push.", scope: "project" } as const;
    await session.writeback.stage({ ...rule, op: "set-with-version", version: "" });
    return session;
  }
  const long = "lorem ipsum ".repeat(500);

  test.each([
    ["before a request that fits all the same", 0.2],
    ["at the end of the turn", 0.33], // the last request takes a third of its room, less than the trigger and near it
  ])("[BOUNDARY-16] %s costs neither the turn nor a summary", async (_when, at) => {
    let summaries = 0;
    const session = await withShelfDown(at, () => {
      summaries += 1;
    });
    await watch(session.run(long, { model: scripted([{ text: long }]) }));
    const { end, events } = await watch(session.run("short", { model: scripted([{ text: "ok" }]) }));
    expect(end).toMatchObject({ status: "done", text: "ok" });
    expect(events.filter(({ kind }) => kind === "compaction-failed")).toMatchObject([
      { error: { code: "BOUNDARY_REFUSED", details: { boundary: "compaction" } } },
    ]);
    expect(summaries).toBe(0);
    expect(session.context.counts.faults["flush-miss"]).toBe(1);
    await expect(session.compact({ tail: 0, said: 0 })).rejects.toMatchObject({ code: "BOUNDARY_REFUSED" });
  });
});

test.each([[[{ kind: "nonsense" }]], [[null]], ["words"], [[{ kind: "user", parts: "words" }]]])(
  "[BOUNDARY-19] a conversation that cannot be read (%j) is no summary: the turn goes on without it",
  async (items) => {
    const summariser: Summariser = { name: "odd", summarise: async () => ({ items: items as never }) };
    const { session } = await opened(undefined, { context: { window: 12_000, compaction: { at: 0.2, summariser } } });
    const long = "lorem ipsum ".repeat(500);
    await watch(session.run(long, { model: scripted([{ text: long }]) }));
    const { end, events } = await watch(session.run("short", { model: scripted([{ text: "ok" }]) }));
    expect(end).toMatchObject({ status: "done", text: "ok" });
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: "compaction-failed",
        error: expect.objectContaining({ code: "SUMMARY_FAILED" }),
      }),
    );
  },
);
