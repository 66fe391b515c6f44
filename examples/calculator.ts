/** A calculator whose programs are kept and run again by name. Run it: `npm run example calculator`. */
import assert from "node:assert/strict";
import { createHoldfast, defineSlice, defineTool, type Json } from "holdfast";
import { quickjs } from "holdfast/adapters/quickjs";
import { memoryStore } from "holdfast/stores/memory";
import { z } from "zod";

const tape = defineSlice("tape", {
  initial: [] as readonly number[],
  on: { printed: (now: readonly number[], value: number) => [...now, value] },
});
const print = defineTool({
  name: "print",
  input: z.object({ value: z.number() }),
  access: "write",
  run({ value }, call) {
    call.dispatch(tape.printed(value));
    return value;
  },
});
const holdfast = await createHoldfast({ store: memoryStore(), tools: [print], slices: [tape], code: quickjs() });
const session = await holdfast.open("calculator");
const run = async (input: Json) => session.runTool({ name: "run_code", input });

// A program with a name: 19 % on top of every amount, printed one by one.
const gross = "return input.map((net) => tools.print({ value: Math.round(net * 119) / 100 }))";
const first = await run({ name: "gross", code: gross, input: [100, 250] });
assert.deepEqual((first.output as { readonly result: Json }).result, [119, 297.5]);

// By its name alone, with other numbers; the record says that nothing new was written.
const again = await run({ name: "gross", input: [10] });
assert.equal(again.ok, true);
const ran = (await session.callRecords()).filter(({ method_name }) => method_name === "run_code");
assert.deepEqual(
  ran.map(({ artifact_hit }) => artifact_hit),
  [false, true],
);
assert.equal(ran[0]?.program_source, ran[1]?.program_source);

// The tape is a slice: programs read it, and a program that throws leaves nothing on it.
const sum = await run({ code: "return context.slices.tape.reduce((sum, value) => sum + value, 0)" });
assert.equal((sum.output as { readonly result: Json }).result, 428.4);
const broken = await run({ code: 'tools.print({ value: 1 }); throw new Error("divided by zero")' });
assert.equal(broken.reason, "program-threw");
assert.deepEqual(session.state.session.get(tape), [119, 297.5, 11.9]);

await session.close();
await holdfast.close();
console.log("three amounts on the tape, and nothing of the program that failed");
