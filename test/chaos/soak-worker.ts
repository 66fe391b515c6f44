import { writeSync } from "node:fs";
import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import { createHoldfast, defineSlice, defineTool, finished, reducers, SeededRandom } from "../../src/index.ts";
import type { ScriptQuestion, ScriptStep } from "../../src/records/script.ts";
import { sqlite } from "../../src/stores/sqlite/entry.ts";
import { startProviderServer } from "../../src/testing/entry.ts";
import { pause } from "./rig.ts";
import { describe } from "./workload.ts";

export type SoakSays =
  | { readonly said: "session"; readonly name: string; readonly wrong: readonly string[] }
  | { readonly said: "heap"; readonly sessions: number; readonly bytes: number }
  | { readonly said: "closed"; readonly left: readonly string[] };

const CALLS = 20;
const AT_ONCE = 50;
/** So many sessions, and then nothing is under way for a moment: what the heap holds then, it holds for good. */
const ROUND = 50;
/** Every so-manieth session goes over the network, through an official SDK. */
const OVER_THE_WIRE = 10;
/** Sockets that were closed are gone a moment later. */
const SOCKETS_MS = 500;

const orders = JSON.parse(process.argv[2] ?? "{}") as Record<"path" | "seed", string> &
  Record<"sessions" | "minutes", number>;
const say = (line: SoakSays) => writeSync(3, `${JSON.stringify(line)}\n`);
const random = new SeededRandom(orders.seed);

const notes = defineSlice("notes", { initial: [] as readonly string[], on: { added: reducers.append<string> } });
const note = defineTool<{ readonly text: string }>({
  name: "note",
  access: "write",
  async run({ text }, call) {
    call.dispatch(notes.added(text));
    await call.files.writeText("note.txt", text);
    return text;
  },
});

/** Twenty calls, some of them two at a time, and a last word; now and then the provider is busy. */
function step(asked: number): ScriptStep {
  if (asked >= CALLS) return { text: "Done." };
  const call = (nth: number) => ({ name: "note", input: { text: `note ${nth}` } });
  return asked % 4 === 1 && asked + 1 < CALLS ? { calls: [call(asked), call(asked + 1)] } : { calls: [call(asked)] };
}

/** How many calls a request has seen the outputs of: the script needs no memory of its own. */
function callsIn(request: unknown): number {
  const { items, messages } = request as { readonly items?: readonly object[]; readonly messages?: readonly object[] };
  if (items !== undefined) return items.filter((item) => "kind" in item && item.kind === "output").length;
  return JSON.stringify(messages ?? []).split('"tool_result"').length - 1;
}

const script = ({ request }: ScriptQuestion): ScriptStep =>
  random.below(100) === 0 ? { fault: "overloaded" } : step(callsIn(request));

const atFirst: readonly string[] = process.getActiveResourcesInfo();
const server = await startProviderServer({ script, remember: 0 });
const holdfast = await createHoldfast({ store: sqlite(orders.path), tools: [note], slices: [notes] });
const offline = scripted(script);
const wired = anthropic({ model: "m", apiKey: "k", baseURL: server.url });
const until = performance.now() + orders.minutes * 60_000;
let begun = 0;

while (begun < orders.sessions || performance.now() < until) {
  const last = begun + ROUND;
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(last)));
  await measure();
}
await server.close();
await holdfast.close();
const closed = performance.now();
while (resources().length > 0 && performance.now() - closed < SOCKETS_MS) await pause(5);
say({ said: "closed", left: resources() });

async function work(last: number): Promise<void> {
  while (begun < last) {
    begun += 1;
    const name = `soak-${begun}`;
    say({ said: "session", name, wrong: await live(name, begun % OVER_THE_WIRE === 0 ? wired : offline) });
  }
}

/** Twice, with a moment between: what ends in one collection lets others go in the next. */
async function measure(): Promise<void> {
  globalThis.gc?.();
  await pause(20);
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  say({ said: "heap", sessions: begun, bytes: heapUsed + external });
}

async function live(name: string, model: typeof offline): Promise<readonly string[]> {
  try {
    const session = await holdfast.open(name);
    const end = await finished(session.run("Take notes.", { model, retry: { firstMs: 1, attempts: 20 } }));
    const kept = session.state.session.get(notes).length;
    await session.close();
    return [
      ...(end.status === "done" ? [] : [`it ended as ${end.status}`]),
      ...(kept === CALLS ? [] : [`${kept} notes instead of ${CALLS}`]),
    ];
  } catch (error) {
    return [describe(error)];
  }
}

/** What keeps this process alive, beside what did when it began. */
function resources(): readonly string[] {
  const left = process.getActiveResourcesInfo();
  for (const was of atFirst) left.splice(left.indexOf(was), left.includes(was) ? 1 : 0);
  return left;
}
