import { describe, expect, test, vi } from "vitest";
import { StagedWritebacks, type WritebackTuple } from "../../src/index.ts";
import type { Session } from "../../src/turn/session.ts";
import { writes } from "../support/calls.ts";
import { opened } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { collect } from "../support/stores.ts";

/** A host or a tool wants a change that belongs nowhere. Whoever closes the session must not wait for it. */
const liking: WritebackTuple = {
  kind: "preference",
  page: "style",
  field: "notes",
  op: "append",
  value: "tabs",
  scope: "session",
};
const without = (name: keyof WritebackTuple): unknown => {
  const { [name]: _left, ...rest } = liking;
  return rest;
};
const WRONG: Readonly<Record<string, readonly [given: unknown, named: string]>> = {
  "without a scope": [without("scope"), "scope"],
  "for a scope that does not exist": [{ ...liking, scope: "galaxy" }, "scope"],
  "without a page": [without("page"), "page"],
  "for a page that is a number": [{ ...liking, page: 5 }, "page"],
  "without a value": [without("value"), "value"],
  "of a kind in a list": [{ ...liking, kind: ["preference"] }, "kind"],
  "resting on a number": [{ ...liking, evidence: 5 }, "evidence"],
  "made of nothing": [{}, "kind"],
};
const ODD = [null, 5, "x", []];
const model = () => scripted([{ text: "ok" }]);
const settledIn = async (session: Session) =>
  (await collect(session.read())).filter(({ kind }) => /^writeback-(committed|rejected)$/.test(kind));

const wanting = writes<{ readonly wish: unknown }>("want", ({ wish }, call) => {
  call.dispatch(StagedWritebacks.wanted(wish as never));
  return "wanted";
});

describe.each(Object.entries(WRONG))("a change %s", (_, [given, named]) => {
  test("[ID-16] [WRITEBACK-20] is refused by name, by the host's door and inside a call, and nothing is staged", async () => {
    const { session } = await opened(undefined, { tools: [wanting] });
    const before = session.journal.head.seq;
    await expect(session.writeback.stage(given as never)).rejects.toMatchObject({
      code: "BAD_OPTION",
      details: { option: named },
    });
    expect(session.journal.head.seq).toBe(before);
    const { status, output } = await session.runTool({
      name: "want",
      input: { wish: { ...(given as object), by: "host" } },
    });
    expect([status, JSON.stringify(output)]).toEqual(["failed", expect.stringContaining(named)]);
    expect(session.writeback.pending).toEqual([]);
    await session.close();
  });

  test("[WRITEBACK-2] [WRITEBACK-20] that a journal holds already is rejected by the schema, which names it, and the session closes", async () => {
    const { disk, deps, session } = await opened();
    await session.state.session.dispatch(
      StagedWritebacks.staged([{ ...(given as WritebackTuple), by: "host" } as never]),
    );
    await session.state.session.dispatch(StagedWritebacks.wanted({ ...liking, by: "host" }));
    await deps.store.close(); // the process dies here
    const again = (await opened(disk)).session;
    expect((await watch(again.run("go on", { model: model() }))).end.status).toBe("done");
    expect(await settledIn(again)).toMatchObject([
      { kind: "writeback-committed", change: { value: "tabs" } },
      { kind: "writeback-rejected", reason: "SCHEMA_INVALID", change: { detail: expect.stringContaining(named) } },
    ]);
    await again.close();
  });
});

describe("what is no change at all", () => {
  test.each(ODD)("[ID-16] [WRITEBACK-20] %j is refused by both doors", async (odd) => {
    const { session } = await opened(undefined, { tools: [wanting] });
    const before = session.journal.head.seq;
    await expect(session.writeback.stage(odd as never)).rejects.toMatchObject({ code: "BAD_OPTION" });
    expect(session.journal.head.seq).toBe(before);
    expect(await session.runTool({ name: "want", input: { wish: odd } })).toMatchObject({ status: "failed" });
    await session.close();
  });

  test("[WRITEBACK-20] is rejected where a journal holds it, beside a page that it may not hide", async () => {
    const { session } = await opened();
    await session.writeback.stage(liking);
    await session.writeback.commit();
    await session.state.session.dispatch(StagedWritebacks.staged(ODD as never));
    expect((await watch(session.run("go on", { model: model() }))).end.status).toBe("done");
    expect((await session.reset()).crossed).toBe(true);
    expect(await settledIn(session)).toMatchObject([
      { kind: "writeback-committed" },
      ...ODD.map(() => ({ kind: "writeback-rejected", reason: "SCHEMA_INVALID" })),
    ]);
    await session.close();
  });
});

test("[WRITEBACK-20] a change that was staged before may be staged again, under a new number", async () => {
  const { session } = await opened();
  const staged = await session.writeback.stage(liking);
  await session.writeback.reject(staged!.id, "NOT_NOW");
  expect(await session.writeback.stage(staged!)).toMatchObject({ value: "tabs", id: "s.000002" });
  await session.close();
});

test("[WRITEBACK-11] what merges with a page and is no object is staged, and not taken for what the page says", async () => {
  const { session } = await opened();
  const values = { ...liking, field: "values", op: "merge", value: { indent: "tabs" } } as const;
  await session.writeback.stage(values);
  await session.writeback.commit();
  for (const value of [null, 5, []]) expect(await session.writeback.stage({ ...values, value })).toBeDefined();
  expect((await session.writeback.commit()).rejected).toHaveLength(3);
  await session.close();
});

test("[BOUNDARY-1] a boundary is refused, and not tried for ever, when a commit leaves what is staged as it was", async () => {
  const { session } = await opened();
  const staged = await session.writeback.stage(liking);
  const commit = vi.spyOn(session.writeback, "commit").mockResolvedValue({ committed: [], rejected: [] });
  await expect(session.close()).rejects.toMatchObject({ code: "BOUNDARY_REFUSED", details: { staged: [staged!.id] } });
  expect(session.context.counts.faults["flush-miss"]).toBe(1);
  commit.mockRestore();
  await session.close();
});
