import { scripted } from "../../src/adapters/scripted/entry.ts";
import {
  createHoldfast,
  defineTool,
  finished,
  FixedClock,
  type ModelRequest,
  SeededRandom,
  type Session,
} from "../../src/index.ts";
import { memoryStore } from "../../src/stores/memory/entry.ts";
import { wordsOf } from "./agent.ts";
import { counter, KERNEL, liveThrough } from "./kernel.ts";
import { fileText, type Turn, type Workload } from "./workload.ts";

/** One thing that must hold, and what was seen. */
export interface Gate {
  readonly name: string;
  readonly passed: boolean;
  readonly seen: string;
}

const turn = (nth: number, more: Partial<Turn> = {}): Turn => ({
  ask: `Step ${nth}.`,
  reads: [],
  wants: [],
  repeats: [],
  learns: [],
  ...more,
});
const work = (family: string, turns: readonly Turn[], lines = 40): Workload => ({
  family,
  turns,
  lines,
  instructions: "INSTRUCTIONS: work in small steps.",
});
const fact = (nth: number) => ({ key: `F${nth}`, text: `fact ${nth}: the port is ${4000 + nth}` });
const faultsOf = async (name: string, life: Workload, budget: number): Promise<Gate> => {
  const tally = await liveThrough(life, budget, KERNEL);
  const seen = `${tally.total} faults in ${tally.requests} requests${tally.refusals.length === 0 ? "" : `; ${tally.refusals[0]}`}`;
  return { name, passed: tally.total === 0 && tally.refusals.length === 0, seen };
};

/** The paper's six gates of its first tier, on the kernel as it is. */
export async function gates(): Promise<readonly Gate[]> {
  const read = (nth: number) => `src/file-${nth}.ts`;
  const readingOn = (count: number) =>
    Array.from({ length: count }, (_, nth) => turn(nth + 1, { reads: [read(nth + 1)] }));
  return [
    await faultsOf(
      "post-compaction bootstrap",
      work("bootstrap", [
        turn(0, { reads: [read(0)], rule: { key: "R0", text: "RULE-0: never push." } }),
        ...readingOn(5),
        turn(6, { after: "compact" }),
        turn(7),
        turn(8, { after: "compact" }),
        turn(9),
      ]),
      180,
    ),
    await faultsOf(
      "dirty pages at a reset",
      work("reset", [
        turn(0, { learns: [fact(0)], after: "reset" }),
        turn(1, { learns: [fact(1)], after: "reset" }),
        turn(2),
      ]),
      180,
    ),
    await thresholdJump(),
    await silentRecall(),
    await unsafePersistence(),
    await faultsOf(
      "duplicate tool under churn",
      work("churn", [turn(0, { reads: [read(0)] }), ...readingOn(20), turn(21, { wants: [read(0), read(7)] })]),
      180,
    ),
  ];
}

/** Starvation is told, and nothing is dropped for it; churn and resets in a row cost nothing. */
export async function adversarial(): Promise<readonly Gate[]> {
  const rules = Array.from({ length: 30 }, (_, nth) =>
    turn(nth, { rule: { key: `R${nth}`, text: `RULE-${nth}: ${"never ".repeat(35)}push.` } }),
  );
  const starved = await liveThrough(work("starvation", rules), 40, KERNEL);
  const unmet = starved.refusals[0] ?? "nothing was refused";
  const churn = Array.from({ length: 50 }, (_, nth) =>
    turn(nth, { reads: [`src/churn-${nth}.ts`], wants: nth < 3 ? [] : [`src/churn-${(nth * 7) % nth}.ts`] }),
  );
  const resets = Array.from({ length: 30 }, (_, nth) =>
    turn(nth, { learns: [fact(nth)], ...(nth % 3 === 2 && nth < 27 ? { after: "reset" as const } : {}) }),
  );
  return [
    {
      name: "starvation: rules that need more than there is",
      passed: starved.total === 0 && /constraint:R\d+ \(structured\)/.test(unmet),
      seen: unmet.slice(0, 240),
    },
    await faultsOf("churn: 50 files in 50 turns", work("churn", churn), 180),
    await faultsOf("cascade: 9 resets in 30 turns", work("cascade", resets), 180),
  ];
}

async function session(window: number): Promise<Session> {
  const clock = new FixedClock();
  const read = defineTool<{ readonly path: string; readonly lines: number }>({
    name: "read_file",
    access: "read",
    run: ({ path, lines }) => fileText(path, lines),
  });
  const deps = { store: memoryStore({ clock }), clock, random: new SeededRandom("gates") };
  return (await createHoldfast({ ...deps, tools: [read], context: { window, counter } })).open("gate");
}

/** From little to too much within one turn, with something dirty: it is committed before anything is given up. */
async function thresholdJump(): Promise<Gate> {
  const one = await session(9_000);
  const script = [
    ...Array.from({ length: 8 }, (_, nth) => ({
      calls: [{ name: "read_file", input: { path: `src/${nth}.ts`, lines: 90 } }],
    })),
    { text: "done" },
  ];
  await one.writeback.stage({
    kind: "preference",
    page: "p",
    field: "notes",
    op: "append",
    value: "tabs",
    scope: "session",
  });
  await finished(one.run("read it all", { model: scripted(script), maxOutputTokens: 500 }));
  const kinds = (await Array.fromAsync(one.read())).map(({ kind }) => kind);
  const [committed, crossed] = [kinds.indexOf("writeback-committed"), kinds.indexOf("boundary-crossed")];
  return {
    name: "threshold jump",
    passed: committed !== -1 && crossed > committed,
    seen: `committed in record ${committed + 1}, given up in record ${crossed + 1}`,
  };
}

/** A miss is told with its code; an empty answer there is none. */
async function silentRecall(): Promise<Gate> {
  const one = await session(9_000);
  let heard = "";
  const model = scripted(({ request, nth }) => {
    heard = (request as ModelRequest).items.map(wordsOf).join("\n");
    return nth === 0
      ? { calls: [{ name: "recall", input: { handle: `holdfast://${"a".repeat(26)}` } }] }
      : { text: "ok" };
  });
  await finished(one.run("look it up", { model, maxOutputTokens: 500 }));
  const passed = heard.includes("nothing in this session has this handle");
  return { name: "silent recall", passed, seen: passed ? "the model was told why" : "the model was told nothing" };
}

async function unsafePersistence(): Promise<Gate> {
  const one = await session(9_000);
  const rule = {
    kind: "constraint",
    page: "R",
    field: "text",
    op: "set-with-version",
    version: "",
    scope: "session",
  } as const;
  await one.writeback.stage({ ...rule, value: "Never push." });
  await one.writeback.commit();
  await one.writeback.stage({ ...rule, value: "Always push." });
  await one.writeback.stage({ ...rule, page: "S", value: "x", scope: "project", evidence: "holdfast://x" }, "model");
  await one.writeback.stage({ ...rule, page: "T", field: "pin", value: "none" });
  const { committed, rejected } = await one.writeback.commit();
  const codes = rejected.map(({ rejection }) => rejection.code).sort();
  return { name: "unsafe persistence", passed: committed.length === 0 && codes.length === 3, seen: codes.join(", ") };
}
