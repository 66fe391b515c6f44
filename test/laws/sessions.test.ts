import fc from "fast-check";
import { expect, test } from "vitest";
import { countingIds } from "../../src/base/ids.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";
import type { Session } from "../../src/turn/session.ts";
import { counter, diary, steps, writes } from "../support/calls.ts";
import { MemoryDisk, memoryDeps } from "../support/stores.ts";

/** What a session should hold, kept by hand. */
interface Model {
  readonly steps: readonly string[];
  readonly counter: number;
  readonly files: Readonly<Record<string, string>>;
}

const act = writes<{ readonly n: string; readonly wait: number; readonly fail: boolean }>(
  "act",
  async ({ n, wait, fail }, call) => {
    const now = call.get(counter);
    for (let turn = 0; turn < wait; turn += 1) await Promise.resolve();
    call.dispatch(steps.added(n));
    call.dispatch(counter.set(now + 1));
    call.dispatch(diary.said(n));
    await call.files.writeText(`d/${n.length % 3}`, n);
    return fail ? call.fail("no", "no") : n;
  },
);

const command = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("calls" as const),
      jobs: fc.array(fc.record({ wait: fc.nat(6), fail: fc.boolean() }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("dispatch" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("rewind" as const),
      pick: fc.nat(50),
      side: fc.constantFrom("before" as const, "after" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("checkpoint" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("reopen" as const), crash: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fork" as const), pick: fc.nat(50) }) },
);

async function look(session: Session): Promise<Model> {
  const files: Record<string, string> = {};
  if (await session.files.exists("d"))
    for (const { name } of await session.files.list("d")) files[name] = await session.files.readText(`d/${name}`);
  return { steps: session.state.session.get(steps), counter: session.state.session.get(counter), files };
}

test("[TURN-4] [TURN-10] [TURN-15] whatever is run, rewound, forked, closed and killed, a session holds what its committed calls made", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(command, { minLength: 1, maxLength: 14 }),
      fc.integer({ min: 4, max: 8 }),
      async (commands, limit) => {
        const disk = new MemoryDisk();
        const options = { tools: [act], slices: [counter, steps, diary], checkpoints: { limit }, ids: countingIds() };
        let deps = memoryDeps(disk);
        let holdfast = new Holdfast(deps, options);
        let session = await holdfast.open("s");
        let n = 0;
        let said = 0;
        let model: Model = await look(session);
        /** Every kept tool boundary, with the state on both sides, worked out from what is seen before and after. */
        let sides: { readonly id: string; readonly before: Model; readonly after: Model }[] = [];
        for (const step of commands) {
          if (step.do === "calls") {
            const jobs = step.jobs.map((job) => ({ name: "act", input: { ...job, n: "x".repeat((n += 1)) } }));
            const outcomes = await session.runTools(jobs);
            said += jobs.length;
            for (const { callId } of session.checkpoints
              .list()
              .filter(({ callId }) => outcomes.some((one) => one.callId === callId))) {
              const at = outcomes.findIndex((one) => one.callId === callId);
              const job = jobs[at];
              const name = job?.input.n ?? "";
              const after: Model =
                outcomes[at]?.ok === true
                  ? {
                      steps: [...model.steps, name],
                      counter: model.counter + 1,
                      files: { ...model.files, [`${name.length % 3}`]: name },
                    }
                  : model;
              sides.push({ id: callId, before: model, after });
              model = after;
            }
          } else if (step.do === "dispatch") {
            await session.state.session.dispatch(steps.added("by hand"));
            model = { ...model, steps: [...model.steps, "by hand"] };
          } else if (step.do === "checkpoint") await session.checkpoint();
          else if (step.do === "rewind" && sides.length > 0) {
            const at = step.pick % sides.length;
            const target = sides[at]!;
            await session.rewind(step.side === "before" ? { before: target.id } : { after: target.id });
            model = target[step.side];
            sides = sides.slice(0, step.side === "before" ? at : at + 1);
          } else if (step.do === "reopen") {
            if (!step.crash) await session.close();
            await deps.store.close();
            deps = memoryDeps(disk);
            holdfast = new Holdfast(deps, options);
            session = await holdfast.open("s");
          } else if (step.do === "fork" && sides.length > 0) {
            const target = sides[step.pick % sides.length]!;
            const fork = await session.fork({ after: target.id, as: `fork-${(n += 1)}` });
            expect(await look(fork)).toEqual(target.after);
            await fork.runTool({ name: "act", input: { n: "fork", wait: 0, fail: false } });
            await fork.close();
          }
          const kept = new Set<string>(
            session.checkpoints
              .list()
              .filter(({ rewound }) => !rewound)
              .map(({ callId }) => callId),
          );
          sides = sides.filter(({ id }) => kept.has(id));
          expect(await look(session)).toEqual(model);
          expect(session.state.session.get(diary)).toHaveLength(said);
        }
        expect((await holdfast.verify()).ok).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});
