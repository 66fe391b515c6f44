import { HoldfastError } from "../../../src/base/errors.ts";
import type { Json } from "../../../src/base/json.ts";
import { reducers } from "../../../src/state/reducers.ts";
import { type ResourceKey, resourceKey, type Snapshotable } from "../../../src/state/resources.ts";
import { type AnySlice, defineSlice, type SliceEvent } from "../../../src/state/slice.ts";
import type { Call } from "../../../src/transaction/call.ts";
import { EffectDidNotHappen } from "../../../src/transaction/effect.ts";
import { defineTool, type Tool, type ToolSpec } from "../../../src/transaction/tool.ts";
import { type EffectHow, type EffectName, keyFor, type Op, type Ops, type Script, type ToolName } from "./ops.ts";

const counter = defineSlice("counter", {
  initial: 0,
  on: { set: (_: number, to: number) => to, added: (now: number, by: number) => now + by },
});
const table = defineSlice("table", {
  initial: {} as Readonly<Record<string, number>>,
  on: { put: (now: Readonly<Record<string, number>>, [key, to]: readonly [string, number]) => ({ ...now, [key]: to }) },
});
export const keepSteps = reducers.appendNewest<string>(8);
export const keepNotes = reducers.appendNewest<string>(16);
export const steps = defineSlice("steps", { initial: [] as readonly string[], on: { added: keepSteps } });
const diary = defineSlice("diary", {
  initial: [] as readonly string[],
  policy: "log",
  on: { noted: keepNotes },
});
export const total = defineSlice("total", {
  initial: null as number | null,
  policy: "cache",
  on: {},
  recompute: (read) => Object.values(read(table)).reduce((sum, value) => sum + value, 0),
});
export const SLICES: readonly AnySlice[] = [counter, table, steps, diary, total];

/** Somebody else's resource: captured and put back, never branched. */
export class Box implements Snapshotable<number> {
  value = 0;

  snapshot(): number {
    return this.value;
  }

  restore(to: number): void {
    this.value = to;
  }
}
export const BOX: ResourceKey<Box> = resourceKey("box");

export interface EffectAsk {
  readonly of: string;
  readonly name: EffectName;
  readonly how: EffectHow;
}

/** What a rig lends to the tools: time, a world outside, and an ear. */
export interface Stage {
  wait(): Promise<void>;
  /** Answers its receipt, where there is one. */
  effect(ask: EffectAsk, key: string): Promise<number | void>;
  undo(ask: EffectAsk, key: string, receipt: number): Promise<void>;
  hear(news: News): void;
}

/** What a handler tells about itself, past the code under test. */
export type News =
  | { readonly is: "began"; readonly call: string }
  | { readonly is: "returned"; readonly call: string }
  | { readonly is: "noted"; readonly call: string; readonly text: string }
  /** A part of what it does begins; later it is over, kept or taken back. */
  | { readonly is: "part-begun"; readonly call: string }
  | { readonly is: "part-over"; readonly call: string; readonly kept: boolean }
  /** An op went through. When the call had ended by then, it should not have. */
  | { readonly is: "did"; readonly call: string; readonly op: Op["op"] }
  | { readonly is: "effect"; readonly call: string; readonly id: string; readonly got: string };

const HOW: Readonly<Record<ToolName, Pick<ToolSpec<Script>, "access" | "retryable" | "deadlineMs">>> = {
  write: { access: "write" },
  steady: { access: "write", retryable: false },
  outside: { access: "external" },
  again: { access: "external", retryable: true },
  swift: { access: "write", deadlineMs: 50 },
};

export function scriptTools(stage: Stage): readonly Tool[] {
  return Object.entries(HOW).map(([name, how]) =>
    defineTool<Script>({
      name,
      ...how,
      effects: effectsOf(stage),
      run: (script, call) => perform(script, call, stage),
    }),
  );
}

function effectsOf(stage: Stage): NonNullable<ToolSpec<Script>["effects"]> {
  const run = async (ask: EffectAsk, { key }: { readonly key: string }) => {
    return `did ${key} ${(await stage.effect(ask, key)) ?? 0}`;
  };
  const undo = (ask: EffectAsk, did: string, { key }: { readonly key: string }) =>
    stage.undo(ask, key, Number(did.split(" ").at(-1)));
  return { deed: { run, undo }, "deed-for-good": { run } };
}

/** Does what a script says, with whichever handle. */
export async function perform(script: Script, call: Call, stage: Stage): Promise<unknown> {
  stage.hear({ is: "began", call: call.id });
  const said: Json[] = [];
  await act(script.ops, call, stage, said);
  if (script.end === "hangs") await new Promise<never>(() => {});
  if (script.end === "lingers") void lingering(call, stage);
  stage.hear({ is: "returned", call: call.id });
  if (script.end === "throws") throw new Error("the tool threw");
  if (script.end === "fails") return call.fail("failed-by-script", "the tool failed", { said });
  if (script.end === "returns-junk") return { junk: 10n };
  return { said };
}

async function act(ops: Ops, call: Call, stage: Stage, said: Json[]): Promise<void> {
  for (const op of ops) {
    const answer = await (DO[op.op] as Doing<Op["op"]>)(op as never, call, stage, said);
    if (op.op !== "wait") stage.hear({ is: "did", call: call.id, op: op.op });
    if (answer !== undefined) said.push(answer);
  }
}

/** Goes on with a handle that is dead or about to die. */
async function lingering(call: Call, stage: Stage): Promise<void> {
  for (const op of LINGERING) {
    await stage.wait();
    try {
      await act([op], call, stage, []);
    } catch (error) {
      if (!HoldfastError.is(error, "CALL_CLOSED")) throw error;
    }
  }
}

const LINGERING: Ops = [
  { op: "add", by: 1000 },
  { op: "write", path: "a", text: "late" },
  { op: "put", key: "late", to: 1 },
  { op: "note", text: "late" },
];

type Doing<K extends Op["op"]> = (
  op: Extract<Op, { readonly op: K }>,
  call: Call,
  stage: Stage,
  said: Json[],
) => Promise<Json | undefined>;

const DO: { readonly [K in Op["op"]]: Doing<K> } = {
  add: dispatching(({ by }) => counter.added(by)),
  put: dispatching(({ key, to }) => table.put([key, to])),
  step: dispatching(({ name }) => steps.added(name)),
  note: async ({ text }, call, stage) => {
    call.dispatch(diary.noted(text));
    stage.hear({ is: "noted", call: call.id, text });
    return undefined;
  },
  increment: async (_, call, stage) => {
    const now = call.get(counter);
    await stage.wait();
    call.dispatch(counter.set(now + 1));
    return now;
  },
  see: async ({ key }, call) => call.get(table)[key] ?? null,
  sum: async (_, call) => call.get(total),
  write: async ({ path, text, times = 1 }, call) => {
    await call.files.writeText(path, text.repeat(times));
    return undefined;
  },
  read: ({ path }, call) => asked(async () => (await call.files.readText(path)).slice(0, 40)),
  list: ({ path }, call) => asked(async () => (await call.files.list(path)).map(({ name }) => name)),
  remove: ({ path }, call) => asked(() => call.files.delete(path, { recursive: true })),
  move: ({ from, to }, call) => asked(() => call.files.move(from, to)),
  box: async ({ by }, call, stage) => {
    const box = await call.resource(BOX);
    box.value += by;
    const now = box.value;
    await stage.wait();
    return now;
  },
  wait: async (_, __, stage) => {
    await stage.wait();
    return undefined;
  },
  attempt: async ({ how, keep, ops }, call, stage, said) => {
    stage.hear({ is: "part-begun", call: call.id });
    const over = () => stage.hear({ is: "part-over", call: call.id, kept: keep });
    if (how === "savepoint") {
      const savepoint = call.savepoint();
      await act(ops, call, stage, said);
      if (!keep) savepoint.rollback();
      over();
      return undefined;
    }
    try {
      await call.transaction(async () => {
        await act(ops, call, stage, said);
        if (!keep) throw new GivenUp();
      });
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
    }
    over();
    return undefined;
  },
  inner: async ({ tool, script }, call) => {
    const { ok, status, output, reason } = await call.run({ name: tool, input: script as unknown as Json });
    // No script says so: whoever holds what a call saw against its script would wonder.
    if (OF_THE_STORE.test(reason)) throw new Error(`the store failed a call inside: ${reason}`);
    return ok ? output : status;
  },
  effect: async ({ name, key, how }, call, stage) => {
    const ask: EffectAsk = { of: call.tool, name, how };
    const wanted = keyFor(key, key.endsWith("?") ? call.get(counter) : 0);
    const id = `${call.tool}/${name}/${wanted}`;
    let got: string;
    try {
      got = (await call.effect(name, { ...ask }, { key: wanted })) as string;
    } catch (error) {
      if (HoldfastError.is(error, "CALL_CLOSED")) throw error;
      got = HoldfastError.is(error) ? error.code : (error as Error).name;
    }
    stage.hear({ is: "effect", call: call.id, id, got });
    return undefined;
  },
};

function dispatching<K extends Op["op"]>(event: (op: Extract<Op, { readonly op: K }>) => SliceEvent): Doing<K> {
  return async (op, call) => {
    call.dispatch(event(op));
    return undefined;
  };
}

/** Codes with which a call inside one that is inside another could not be opened. */
const OF_THE_STORE = /^(STORE|JOURNAL|LEASE|HEAD)_/;

class GivenUp extends Error {}

/** An answer, or the code of the refusal: both are what a tool learns. */
async function asked(work: () => Promise<Json | undefined | void>): Promise<Json> {
  try {
    return (await work()) ?? "ok";
  } catch (error) {
    if (HoldfastError.is(error) && error.code.startsWith("FILE_")) return error.code;
    throw error;
  }
}

/** Thrown by a stage to play an effect that did not happen. */
export function didNotHappen(): Error {
  return new EffectDidNotHappen("the world said no");
}
