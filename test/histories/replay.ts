import type { Model } from "../../src/contracts/model.ts";
import type { TokenCounter } from "../../src/contracts/token-counter.ts";
import {
  defineTool,
  estimateCounter,
  finished,
  type Holdfast,
  HoldfastError,
  type RunEnd,
  type RunEvent,
  type Session,
  type Tool,
} from "../../src/index.ts";
import type { ScriptedFault, ScriptStep } from "../../src/records/script.ts";
import type { SeededRandom } from "../../src/base/random.ts";
import { ANSWER_TOKENS, outputsById, type Plan, windowFor } from "./plan.ts";

/** Tools that return what was recorded. */
function recordedTools(session: string, plan: Plan): readonly Tool[] {
  const outputs = outputsById(session, plan);
  return plan.tools.map((name) =>
    defineTool({
      name,
      access: "write",
      async run(_, call) {
        const output = outputs.get(call.id);
        if (output === undefined) throw new Error(`no call ${call.id} was planned`);
        await call.files.writeText(`${call.id}.txt`, output.text.slice(0, 100));
        return output.ok ? output.text : call.fail("recorded", output.text);
      },
    }),
  );
}

/** How far a session has come, by its journal. */
export class Progress {
  answers = 0;
  users = 0;
  #next = 1;
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async update(): Promise<this> {
    for await (const entry of this.#session.read({ from: this.#next })) {
      this.#next = entry.seq + 1;
      if (entry.kind === "model-said") this.answers += 1;
      if (entry.kind === "user-said") this.users += 1;
    }
    return this;
  }
}

/** Says what the plan says next, and now and then something that real providers do. */
export class Player {
  progress: Progress | undefined;
  plan: Plan | undefined;
  asked = 0;
  faults = 0;
  readonly #random: SeededRandom | undefined;

  /** With chance, about every tenth question goes wrong. */
  constructor(random?: SeededRandom) {
    this.#random = random;
  }

  readonly script = async (): Promise<ScriptStep> => {
    this.asked += 1;
    const { answers } = (await this.progress?.update()) ?? { answers: 0 };
    const answer = this.plan?.answers[answers];
    if (answer === undefined) throw new HoldfastError("SCRIPT_EXHAUSTED", { asked: answers + 1 });
    if (this.#random === undefined || this.#random.below(10) > 0) return answer;
    this.faults += 1;
    const fault = this.#random.pick(FAULTS);
    return typeof fault === "function" ? fault(answer, this.#random) : fault;
  };
}

type Wrong = (answer: ScriptStep, random: SeededRandom) => ScriptStep;

/** What goes wrong at real providers: refusals that pass, broken lines, careless ids and arguments, silence. */
const FAULTS: readonly (ScriptedFault | Wrong)[] = [
  { fault: "rate-limited", retryAfter: 0.001 },
  { fault: "provider-broken" },
  { fault: "overloaded" },
  { fault: "hang-up" },
  { fault: "unreadable" },
  { fault: "too-long" },
  { fault: "provider-broken", after: { text: "It began well" } },
  (answer, random) => ({ ...answer, cutAfter: { events: random.below(12) } }),
  (answer, random) => ({ ...answer, cutAfter: { bytes: random.below(900), politely: true } }),
  () => ({}),
  (answer) => withCalls(answer, (call) => ({ ...call, id: "call_used_again" })),
  (answer) => withCalls(answer, (call) => ({ ...call, id: "" })),
  (answer) => withCalls(answer, ({ input: _input, ...call }) => ({ ...call, inputText: '{"path": "a' })),
  (answer) => ({ ...answer, slowMs: 1 }),
];

function withCalls(answer: ScriptStep, change: (call: Calls[number]) => Calls[number]): ScriptStep {
  return "calls" in answer && answer.calls !== undefined ? { ...answer, calls: answer.calls.map(change) } : answer;
}
type Calls = NonNullable<Extract<ScriptStep, { readonly calls?: unknown }>["calls"]>;

/** Counts the same for everybody, so that half of a conversation is half of it. */
export const HALF_COUNTER: TokenCounter = { ...estimateCounter, exact: true };

export interface Living {
  readonly session: string;
  readonly model: Model;
  readonly player: Player;
  readonly hear?: (event: RunEvent) => void;
  /**
   * Requests may show so much of the whole conversation. Where what must be shown is more, what is asked for grows by
   * quarters, as a user would choose a larger window; each time is told.
   */
  readonly share?: number;
  readonly grown?: (share: number) => void;
}

/** Lives through a plan from wherever its session stands, turn by turn. */
export async function live(holdfast: Holdfast, plan: Plan, how: Living): Promise<Session> {
  const session = await holdfast.open(how.session);
  session.transactions.add(recordedTools(how.session, plan));
  const progress = new Progress(session);
  how.player.plan = plan;
  how.player.progress = progress;
  let { share } = how;
  const options = {
    model: how.model,
    maxOutputTokens: ANSWER_TOKENS,
    retry: { firstMs: 1, attempts: 4 },
    limits: { steps: 10_000 },
    ...(plan.instructions === undefined ? {} : { instructions: plan.instructions }),
  };
  let idle = 0;
  for (;;) {
    const { users, answers } = await progress.update();
    const turn = plan.turns[users - 1];
    const over = turn === undefined || answers >= turn.answersSoFar;
    const next = plan.turns[users];
    if (over && next === undefined) return session;
    const window = share === undefined ? {} : { window: windowFor(plan, share) };
    const end = await finished(session.run(over ? next?.input : undefined, { ...options, ...window }), how.hear);
    if (share !== undefined && doesNotFit(end)) {
      share *= 1.25;
      how.grown?.(share);
    }
    // A turn that failed is gone on with, as a user would; but not for ever.
    idle = progress.answers === (await progress.update()).answers ? idle + 1 : 0;
    if (idle > 20) throw new Error(`${plan.name}: stuck after ${answers} answers: ${JSON.stringify(end)}`);
  }
}

/** Nothing was sent: what must be shown is more than there is room for. */
function doesNotFit(end: RunEnd): boolean {
  return end.status === "failed" && end.failure.kind === "too-long" && end.failure.reached === "no";
}
