import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { anthropic } from "../../adapters/anthropic/entry.ts";
import { type CallOutcome, createHoldfast, type Holdfast, type Model, type RunEnd, type Session } from "../../index.ts";
import type { ScriptedAnswer } from "../../records/script.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";
import { type ProviderServer, startProviderServer } from "../../testing/entry.ts";
import { RULES, SESSION } from "./project.ts";
import type { Show } from "./show.ts";
import { steps, toolsWith, Witness } from "./tools.ts";

/** Where the story plays: a folder of its own, that nothing else knows. */
export interface Theatre extends Ground {
  readonly show: Show;
  /** The project lies in it, and whatever else the story needs. */
  readonly folder: string;
  /** Children that are to end when somebody leaves early. */
  readonly children: Set<ChildProcess>;
}

/** What a stage stands on. */
export interface Ground {
  readonly show: Pick<Show, "quote" | "call">;
  readonly workspace: string;
  /** How many kernels worked on the session so far. */
  lives: number;
}

/** What the model answers, once it has seen the request. */
export type Line = ScriptedAnswer | ((request: string) => ScriptedAnswer);

/** A turn of the agent, as it went. */
interface Turn {
  readonly end: RunEnd;
  readonly outcomes: readonly CallOutcome[];
}

/** A kernel over a real store and a real folder, and a model behind a provider that refuses what real ones refuse. */
export interface Stage {
  readonly holdfast: Holdfast;
  readonly session: Session;
  readonly provider: ProviderServer;
  readonly witness: Witness;
  readonly model: Model;
  /** One turn, shown call by call. Without input it goes on where the session stands. */
  readonly turn: (input: string | undefined, lines: readonly Line[], how?: How) => Promise<Turn>;
  readonly leave: () => Promise<void>;
}

interface How {
  readonly model?: Model;
  /** Calls are not shown one by one. */
  readonly quietly?: boolean;
}

export interface StageOptions {
  /** How many tokens the model reads and writes. */
  readonly window?: number;
}

export function storeIn(workspace: string): string {
  return join(workspace, ".holdfast", "sessions.db");
}

/** A scene, with everything put away afterwards, also when it breaks down. */
export async function onStage<T>(
  ground: Ground,
  scene: (stage: Stage) => Promise<T>,
  options?: StageOptions,
): Promise<T> {
  const stage = await setStage(ground, options);
  try {
    return await scene(stage);
  } finally {
    await stage.leave();
  }
}

export async function setStage(ground: Ground, options: StageOptions = {}): Promise<Stage> {
  const { show, workspace } = ground;
  ground.lives += 1;
  const witness = new Witness();
  const holdfast = await createHoldfast({
    store: sqlite(storeIn(workspace)),
    workspace,
    tools: toolsWith(witness),
    slices: [steps],
    context: { rules: RULES, ...(options.window === undefined ? {} : { window: options.window }) },
  });
  const session = await holdfast.open(SESSION);
  const script: Line[] = [];
  // Started last: where the kernel cannot be made, a server that listens would keep the process.
  const provider = await startProviderServer({
    script: ({ request }) => {
      const line = script.shift();
      if (line === undefined) throw new Error("the demo's model was asked once too often");
      return typeof line === "function" ? line(JSON.stringify(request)) : line;
    },
    first: ground.lives * 100, // another kernel must not give out the ids of this one again
  });
  const own = modelAt(provider.url);
  return {
    holdfast,
    session,
    provider,
    witness,
    model: own,
    async turn(input, lines, { model = own, quietly = false } = {}) {
      script.push(...lines);
      if (input !== undefined) show.quote("user", input);
      return follow(session.run(input, { model }), quietly ? undefined : show);
    },
    async leave() {
      await session.close();
      await holdfast.close();
      await provider.close();
    },
  };
}

async function follow(turn: ReturnType<Session["run"]>, show: Ground["show"] | undefined): Promise<Turn> {
  const outcomes: CallOutcome[] = [];
  for (;;) {
    const next = await turn.next();
    if (next.done === true) return { end: next.value, outcomes };
    if (next.value.kind !== "call-closed") continue;
    const { outcome } = next.value;
    outcomes.push(outcome);
    await show?.call(outcome.tool, brief(outcome.output), outcome.ok ? "done" : "failed");
  }
}

function brief(output: unknown): string {
  const [line = ""] = (typeof output === "string" ? output : JSON.stringify(output)).split("\n");
  return line.length <= 56 ? line : `${line.slice(0, 55)}…`;
}

/** The real adapter. Its SDK is an optional peer that may not be installed, so a few lines of `fetch` take its place. */
function modelAt(url: string): Model {
  const create = async (body: object, { signal }: { readonly signal: AbortSignal }) => {
    const headers = { "content-type": "application/json", "x-api-key": "demo", "anthropic-version": "2023-06-01" };
    const answer = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body), signal });
    const said = (await answer.json()) as { readonly error?: { readonly message: string } };
    if (!answer.ok) throw Object.assign(new Error(said.error?.message ?? answer.statusText), { status: answer.status });
    return said;
  };
  return anthropic({ model: "demo", stream: false, client: { messages: { create } } });
}
