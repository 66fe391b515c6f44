import { expect, test } from "vitest";
import type { WritebackTuple } from "../../src/index.ts";
import { eventCounters, type KernelEvent } from "../../src/telemetry/entry.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";
import { writes } from "../support/calls.ts";
import { OPTIONS } from "../support/durable.ts";
import { scripted, watch } from "../support/loop.ts";
import { longText } from "../support/pages.ts";
import { between, memoryDeps } from "../support/stores.ts";

const WORDS = "never use tabs here";
const read = writes<{ readonly path: string }>("read_file", ({ path }) => longText(60, path), { access: "read" });
const look = { calls: [{ name: "read_file", input: { path: "a.ts" } }] };
const noted = (more: Partial<WritebackTuple>): WritebackTuple => ({
  kind: "preference",
  page: "style",
  field: "notes",
  op: "append",
  value: WORDS,
  scope: "session",
  ...more,
});

test("[FAULT-3] boundaries that were crossed and refused, changes that were committed and rejected, and thrash are told", async () => {
  const deps = memoryDeps();
  let down = false;
  const store = between(deps.store, {
    before: (batch) => {
      if (down && "session" in batch && String(batch.session).startsWith("pages:")) throw new Error("unplugged");
      return undefined;
    },
  });
  const events: KernelEvent[] = [];
  const counters = eventCounters();
  const telemetry = { sinks: [counters, { emit: (event: KernelEvent) => void events.push(event) }] };
  const holdfast = new Holdfast({ ...deps, store }, { ...OPTIONS, tools: [read], telemetry });
  const session = await holdfast.open("s");
  await watch(session.run("look", { model: scripted([look, look, { text: "ok" }]) }));
  await session.writeback.stage(noted({}));
  await session.writeback.stage(noted({ field: "nobody's" }));
  await session.compact({ tail: 0 });
  await session.writeback.stage(noted({ scope: "project" }));
  down = true;
  await expect(session.reset()).rejects.toMatchObject({ code: "BOUNDARY_REFUSED" });
  down = false;
  await session.close();
  expect(counters.counts).toMatchObject({
    boundaries: 2, // the compaction, and the exit
    boundariesRefused: 1,
    writebacks: 2,
    writebacksRejected: 1,
  });
  expect(counters.faults["flush-miss"]).toBe(1);
  const facts = (kind: string) => events.filter((event) => event.kind === kind).map((event) => event.facts);
  expect(facts("boundary-crossed").map(({ boundary }) => boundary)).toEqual(["compaction", "exit"]);
  expect(facts("writeback-rejected")).toMatchObject([{ page: "preference:style", reason: "SCHEMA_INVALID" }]);
  expect(facts("turn-over")).toMatchObject([{ context: { alerts: 1, hits: 0, thrash: 1 } }]);
  expect(JSON.stringify(events)).not.toContain(WORDS);
});
