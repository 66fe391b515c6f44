import fc from "fast-check";
import { expect, test } from "vitest";
import { defineTool, type JournalEntry, type Session, type Tool } from "../../src/index.ts";
import { opened } from "../support/durable.ts";
import { collect } from "../support/stores.ts";

const read = (name: string, description = "") => defineTool({ name, description, access: "read", run: () => "seen" });
const write = (name: string, description = "") => defineTool({ name, description, access: "write", run: () => "done" });

/** What somebody does, without waiting for what the others do. */
type Step =
  | { readonly mode: "act" | "plan" }
  | { readonly asks: boolean }
  | { readonly add: Tool }
  | { readonly remove: string }
  | "request";

const NAMES = ["look", "edit", "fetch"];
const anyTool = fc
  .record({ name: fc.constantFrom(...NAMES), reads: fc.boolean(), words: fc.constantFrom("", "other words") })
  .map(({ name, reads, words }) => (reads ? read(name, words) : write(name, words)));
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ mode: fc.constantFrom("act" as const, "plan" as const) }),
  fc.record({ asks: fc.boolean() }),
  fc.record({ add: anyTool }),
  fc.record({ remove: fc.constantFrom(...NAMES) }),
  { weight: 3, arbitrary: fc.constant("request" as const) },
);
/** Everybody's steps, and how many ticks each waits before it acts. */
const anyLives = fc.array(
  fc.array(fc.record({ step: anyStep, ticks: fc.nat({ max: 12 }) }), { minLength: 1, maxLength: 6 }),
  { minLength: 2, maxLength: 4 },
);

interface Sent {
  readonly epoch: number;
  readonly hash: string;
  readonly names: readonly string[];
}

/** A request as a host makes it: aligned, and looked at once more in the moment of sending. */
async function request(session: Session): Promise<readonly Sent[]> {
  try {
    const aligned = await session.align();
    await ticks(3);
    const { epoch, contentHash: hash, activeNames: names, tools = [] } = aligned.catalog;
    session.inspect(aligned, { tools });
    const { mode } = session;
    const forbidden = names.filter((name) => mode === "plan" && session.transactions.tool(name)?.access === "write");
    expect({ mode, forbidden }).toEqual({ mode, forbidden: [] });
    expect(aligned.prompt.tailText).toContain(`- mode: ${mode}`);
    return [{ epoch, hash, names }];
  } catch (error) {
    if ((error as { readonly code?: string }).code === "PROMPT_MISALIGNED") return []; // nothing left
    throw error;
  }
}

async function ticks(many: number): Promise<void> {
  for (let tick = 0; tick < many; tick += 1) await Promise.resolve();
}

function act(session: Session, step: Exclude<Step, "request">): Promise<unknown> {
  if ("mode" in step) return session.setMode(step.mode);
  if ("asks" in step) return session.catalog.setRequestUserInput(step.asks);
  return "add" in step ? session.catalog.add([step.add]) : session.catalog.remove([step.remove]);
}

test("[MODE-14] [A16] [ALIGN-15] whatever changes at once, a request that leaves is in one mode, and offers what the journal says its epoch offers", async () => {
  await fc.assert(
    fc.asyncProperty(anyLives, async (lives) => {
      const { session } = await opened(undefined, { tools: [read("look"), write("edit")] });
      const sent: Sent[] = [];
      const live = async (life: (typeof lives)[number]) => {
        for (const { step, ticks: wait } of life) {
          await ticks(wait);
          if (step === "request") sent.push(...(await request(session)));
          else await act(session, step);
        }
      };
      await Promise.all(lives.map(live));
      sent.push(...(await request(session)));
      const told = (await collect(session.read())).filter(isTold);
      expect(told.map(({ epoch }) => epoch)).toEqual(told.map((_, nth) => nth + 1));
      for (const { epoch, hash, names } of sent) {
        const record = told.find((one) => one.epoch === epoch);
        expect({ epoch, names, hash }).toEqual({ epoch, names, hash: record?.contentHash });
      }
      await session.close();
    }),
    { numRuns: 300 },
  );
});

function isTold(entry: JournalEntry): entry is Extract<JournalEntry, { readonly kind: "catalog-changed" }> {
  return entry.kind === "catalog-changed";
}
