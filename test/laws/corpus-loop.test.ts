import { describe, expect, test } from "vitest";
import {
  createHoldfast,
  type RunEvent,
  SeededRandom,
  type Session,
  SystemClock,
  SystemRandom,
} from "../../src/index.ts";
import { MemoryDisk, memoryStore } from "../../src/stores/memory/entry.ts";
import { hasCorpus, recordedItems, transcriptFolders } from "../histories/corpus.ts";
import { type Plan, planOf } from "../histories/plan.ts";
import { HALF_COUNTER, live, Player } from "../histories/replay.ts";
import { refusedFor, SHAPES, stageFor } from "../histories/shapes.ts";
import { collect } from "../support/stores.ts";

describe.skipIf(!hasCorpus)("real transcripts (HOLDFAST_CORPUS) through the loop", () => {
  describe.each(Object.keys(SHAPES))("%s", (shape) => {
    test.each(transcriptFolders())(
      "[LOOP-20] %s: every session finishes, no request is refused",
      { timeout: 900_000 },
      (folder) => replay(folder, shape),
    );
    test.each(transcriptFolders())(
      "[LOOP-20] %s: the same with a fault in every tenth request",
      { timeout: 900_000 },
      (folder) => replay(folder, shape, { random: new SeededRandom(`${folder} ${shape}`) }),
    );
    test.each(transcriptFolders())(
      "[LOOP-20] %s: the same with faults, and with room for half of the conversation",
      { timeout: 900_000 },
      (folder) => replay(folder, shape, { random: new SeededRandom(`${folder} ${shape} half`), share: 0.5 }),
    );
  });
});

interface Hardship {
  readonly random?: SeededRandom;
  readonly share?: number;
}

async function replay(folder: string, shape: string, { random, share }: Hardship = {}): Promise<void> {
  const player = new Player(random);
  const reclaimed = { times: 0 };
  const larger: number[] = [];
  const squeeze = share === undefined ? {} : { share, grown: (to: number) => larger.push(to) };
  const { server, model } = await stageFor(shape, player);
  const [clock, chance] = [new SystemClock(), new SystemRandom()];
  let nth = 0;
  try {
    for await (const { name, items } of recordedItems(folder)) {
      const plan = planOf(name, items);
      if (plan.answers.length === 0) continue;
      nth += 1;
      const before = server.requests.length;
      const store = memoryStore({ disk: new MemoryDisk(), clock });
      await using holdfast = await createHoldfast({ store, clock, random: chance, context: { counter: HALF_COUNTER } });
      const hear = ({ kind }: RunEvent) => void (reclaimed.times += kind === "reclaimed" ? 1 : 0);
      const session = await live(holdfast, plan, { session: `s${nth}`, model, player, hear, ...squeeze });
      expect({ name, refused: server.requests.slice(before).flatMap((request) => refusedFor(request) ?? []) }).toEqual({
        name,
        refused: [],
      });
      await expectWhole(session, plan);
      await session.close();
    }
    const squeezed = share === undefined ? "" : `, ${reclaimed.times} reclaims, ${larger.length} times a larger window`;
    console.log(`${folder} as ${shape}: ${nth} sessions, ${player.asked} requests, ${player.faults} faults${squeezed}`);
    if (nth > 0) expect(player.asked).toBeGreaterThan(0);
  } finally {
    await server.close();
  }
}

/** Every planned call was opened and closed once, in a journal that says so. */
async function expectWhole(session: Session, plan: Plan): Promise<void> {
  const entries = await collect(session.read());
  const opened = entries.flatMap((entry) => (entry.kind === "call-opened" ? [entry.callId] : []));
  const closed = entries.flatMap((entry) => (entry.kind === "call-closed" ? [entry.callId] : []));
  const planned = plan.answers.reduce((sum, { calls = [] }) => sum + calls.length, 0);
  expect(new Set(opened).size).toBe(opened.length);
  expect(closed.toSorted()).toEqual(opened.toSorted());
  expect(opened.length).toBe(planned);
  expect(session.openCalls).toEqual([]);
}
