import type { Task, Trial } from "../../harness/contract.ts";
import { median } from "../../harness/statistics.ts";
import { defineTrial } from "../../harness/trial.ts";
import { memoryStore } from "../../../src/stores/memory/entry.ts";
import {
  type AlignedPrompt,
  createHoldfast,
  defineTool,
  definePrompt,
  type SentRequest,
  type Session,
} from "../../../src/index.ts";
import { sentIn, type SentShape, writtenOnce } from "../../../src/adapters/kit/entry.ts";
import { makeSections, makeTools } from "./build.ts";

const TIMES = 11;
const IN_A_ROW = 11;

interface Ready {
  readonly session: Session;
  readonly instructions: string;
  sent: SentRequest;
}

/**
 * Both looks that a session takes at a request when nothing changed: before it is built, and at the body that was written.
 * Several in a row, for one takes less than a change of process costs it.
 */
export function wholeStation(): Trial {
  return defineTrial({
    times: TIMES,
    prepare: (task) => openSession(task),
    run: async ({ session, instructions, sent }) => {
      const costs: number[] = [];
      let aligned: AlignedPrompt;
      do {
        const started = process.hrtime.bigint();
        aligned = await session.align({ instructions });
        session.inspect(aligned, sent);
        costs.push(Number(process.hrtime.bigint() - started));
      } while (costs.length < IN_A_ROW);
      return { aligned, costs };
    },
    figures: ({ costs }) => ({ "both looks": median(costs) }),
    verify: ({ aligned: last }, { session, sent }, { size }) => {
      const { catalog, prompt } = last;
      if (catalog.availableTools() !== size) throw new Error("tools are missing");
      if (prompt.prefixText.length < 50_000) throw new Error("the prompt is too short");
      const { aligned, healed } = session.alignment.requests;
      if (aligned < TIMES || healed > 0) throw new Error("something changed");
      mustRefuse(session, last, { ...sent, tools: sent.tools.slice(1) });
      return undefined;
    },
  });
}

async function openSession({ size, seed, round }: Task): Promise<Ready> {
  const made = makeTools(size, `${seed}-${round}`);
  const tools = made.map(({ name, description, access, inputSchema }) =>
    defineTool({ name, description, access, inputSchema, run: () => "done" }),
  );
  const prompt = definePrompt("bench", makeSections(made, seed));
  const holdfast = await createHoldfast({ store: memoryStore(), tools, prompt, context: { recall: false } });
  const session = await holdfast.open("station");
  const instructions = "Answer in one sentence.";
  return { session, instructions, sent: written(await session.align({ instructions })) };
}

/** As an adapter writes it and reads it back: each tool once, in an object of its own around the snapshot's values. */
function written({ catalog, prompt }: AlignedPrompt): SentRequest {
  const offers = writtenOnce(({ name, description, input }) => ({
    name,
    description,
    schema: { type: "object", ...input },
  }));
  const body = { tools: offers(catalog.tools ?? []), said: prompt.tailText };
  return sentIn(body, SENT);
}

const SENT: SentShape = { described: (tool) => tool, schema: "schema", demanded: () => undefined, speaking: [] };

/** A check that never says no would be fast, too. */
function mustRefuse(session: Session, aligned: AlignedPrompt, sent: SentRequest): void {
  try {
    session.inspect(aligned, sent);
  } catch {
    return;
  }
  throw new Error("a tool was taken away, and nobody noticed");
}
