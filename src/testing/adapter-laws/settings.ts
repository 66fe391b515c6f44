import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual } from "node:assert/strict";
import type { ModelRequest, ReasoningEffort } from "../../contracts/model.ts";
import type { Item } from "../../index.ts";
import type { LawBook } from "../law.ts";
import type { Asked } from "../provider-server/dialect.ts";
import type { ProviderServer } from "../provider-server/server.ts";
import { type Bench, HELLO, hear, type Stage, user, withModel } from "./bench.ts";

const instruction = (text: string): Item => ({ kind: "system", role: "system", parts: [{ type: "text", text }] });
const INSTRUCTIONS = ["Be brief 🥊.", 'Never say "perhaps".'];
const CHOICES = ["auto", "none", "required", { name: "grep" }, { name: "read_file" }] as const;
const EFFORTS: readonly (ReasoningEffort | undefined)[] = [undefined, "low", "medium", "high"];

/** What is asked for beside the conversation: forgotten, nothing fails, and the model is another one. */
export const SETTINGS: LawBook<Bench> = [
  [
    "[ADAPT-21] every instruction reaches the provider as one, also those inside the conversation",
    async (bench) => {
      await overWire(bench, async (stage) => {
        const [first = "", second = ""] = INSTRUCTIONS;
        const items = [instruction(first), instruction(second), ...HELLO.items];
        const { instructions } = await askedWith(stage, { ...HELLO, items });
        for (const text of INSTRUCTIONS) ok(instructions.includes(text), `${text} was not sent: ${instructions}`);
        const said = JSON.stringify(stage.server.requests.at(-1)?.body);
        strictEqual(said.split("Be brief").length, 2, "an instruction was sent twice");
        const plain = await askedWith(stage, HELLO);
        strictEqual(plain.instructions.trim(), "", "there were none to send");
      });
    },
  ],
  [
    "[ADAPT-21] every choice among the tools reaches the provider as it was asked",
    async (bench) => {
      await overWire(bench, async (stage) => {
        for (const toolChoice of CHOICES) {
          const asked = await askedWith(stage, { ...HELLO, toolChoice });
          // Left to itself a model chooses: a provider need not be told so.
          const told = asked.toolChoice ?? "auto";
          deepStrictEqual(told, toolChoice, `asked ${JSON.stringify(toolChoice)}, sent ${JSON.stringify(told)}`);
        }
        const unasked = await askedWith(stage, HELLO);
        strictEqual(unasked.toolChoice ?? "auto", "auto");
        await askedWith(stage, { items: [user("no tools at all")] });
      });
    },
  ],
  [
    "[ADAPT-21] the limit of an answer and the temperature reach the provider, also a temperature of nothing",
    async (bench) => {
      await overWire(bench, async (stage) => {
        for (const maxOutputTokens of [777, 4321]) {
          const asked = await askedWith(stage, { ...HELLO, maxOutputTokens });
          strictEqual(asked.maxOutputTokens, maxOutputTokens);
        }
        for (const temperature of [0, 0.25, 1]) {
          const asked = await askedWith(stage, { ...HELLO, temperature });
          strictEqual(asked.temperature, temperature);
        }
        strictEqual((await askedWith(stage, HELLO)).temperature, undefined, "nobody asked for a temperature");
      });
    },
  ],
  [
    "[ADAPT-21] every effort of reasoning reaches the provider as another",
    async (bench) => {
      if (!bench.can.effort) return;
      await overWire(bench, async (stage) => {
        const told: unknown[] = [];
        for (const reasoning of EFFORTS) {
          const { effort } = await askedWith(stage, { ...HELLO, ...(reasoning === undefined ? {} : { reasoning }) });
          for (const before of told) notDeepStrictEqual(effort, before, `${reasoning ?? "none"} is sent like another`);
          told.push(effort);
        }
      });
    },
  ],
];

interface WiredStage extends Stage {
  readonly server: ProviderServer;
}

/** Nobody is told anything by a model that talks to nobody. */
async function overWire(bench: Bench, use: (stage: WiredStage) => Promise<void>): Promise<void> {
  await withModel(
    bench,
    () => ({ text: "ok" }),
    async ({ model, server }) => {
      if (server !== undefined) await use({ model, server });
    },
  );
}

/** Asks, and says what the provider made of it. */
async function askedWith({ model, server }: WiredStage, request: ModelRequest): Promise<Asked> {
  const { failure } = await hear(model, request);
  strictEqual(failure, undefined, JSON.stringify(failure));
  const asked = server.requests.at(-1)?.asked;
  ok(asked, "the server does not say what it was asked for: SeenRequest.asked");
  return asked;
}
