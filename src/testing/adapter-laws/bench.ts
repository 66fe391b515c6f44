import { ok, strictEqual } from "node:assert/strict";
import { getEventListeners } from "node:events";
import type { JsonObject } from "../../base/json.ts";
import { SystemClock } from "../../base/clock.ts";
import type { Answer, Model, ModelEvent, ModelFailure, ModelRequest, PartialAnswer } from "../../contracts/model.ts";
import { type Item, type OutputItem, textOf, type UserItem } from "../../index.ts";
import type { Script, ScriptedAnswer } from "../../records/script.ts";
import type { SeenRequest } from "../provider-server/log.ts";
import { type ProviderServer, type ProviderServerOptions, startProviderServer } from "../provider-server/server.ts";

/** What a provider can do. The laws ask nothing that is turned off here. */
export interface Abilities {
  /** Its answers contain the model's reasoning. */
  readonly reasoning: boolean;
  /** Requests can say how hard to think. */
  readonly effort: boolean;
  /** It reports that the model refused, in words or as a stop reason. Not set where it only has content filters. */
  readonly refusals: boolean;
  /** It distinguishes a content filter from a refusal. */
  readonly contentFilter: boolean;
  /**
   * The adapter can receive arguments that are not valid JSON. Not set where the provider sends arguments as a value.
   */
  readonly malformedArguments: boolean;
  /**
   * The adapter receives ids as the provider wrote them. Not set where a layer in between gives ids of its own to calls
   * that have none.
   */
  readonly rawIds: boolean;
  /** Its answers have an id. */
  readonly answerIds: boolean;
}

export interface Bench {
  readonly open: (script: Script) => Promise<Opened>;
  readonly can: Abilities;
}

/** A model that a law tests, and what stands behind it. */
export interface Opened {
  readonly model: Model;
  /**
   * The strict server that the model talks to. It judges what was sent; without one, laws check only what the model
   * returns.
   */
  readonly server: ProviderServer | "talks to nobody";
  readonly close: () => Promise<void>;
}

/** What a law looks at. No server stands behind a model that talks to nobody. */
export interface Stage {
  readonly model: Model;
  readonly server: ProviderServer | undefined;
}

/** Puts a strict provider server behind an adapter, for the `open` of `adapterLaws`. */
export function overServer(
  modelAt: (url: string) => Model,
  options: Omit<ProviderServerOptions, "script"> = {},
): (script: Script) => Promise<Opened> {
  return async (script) => {
    const server = await startProviderServer({ ...options, script });
    return { model: modelAt(server.url), server, close: () => server.close() };
  };
}

export const TOOLS = [
  { name: "read_file", description: "Reads a file.", input: { type: "object" } as JsonObject },
  { name: "grep", description: "Searches.", input: { type: "object" } as JsonObject },
] as const;

export function user(text: string): UserItem {
  return { kind: "user", parts: [{ type: "text", text }] };
}

export const HELLO: ModelRequest = { items: [user("hello")], tools: TOOLS };

export interface Heard {
  readonly events: readonly ModelEvent[];
  readonly answer?: Answer;
  readonly failure?: ModelFailure;
  readonly partial?: PartialAnswer;
}

/** Asks and listens to the end. Whatever happens, nothing may be left on the caller's signal. */
export async function hear(model: Model, request: ModelRequest, controller = new AbortController()): Promise<Heard> {
  const events: ModelEvent[] = [];
  for await (const event of model.ask(request, { signal: controller.signal })) events.push(event);
  strictEqual(getEventListeners(controller.signal, "abort").length, 0, "a listener was left on the signal");
  const endings = events.filter((event) => event.kind === "end" || event.kind === "failed");
  strictEqual(endings.length, 1, `${endings.length} endings`);
  const last = events.at(-1);
  strictEqual(last, endings[0], "something came after the ending");
  if (last?.kind === "end") return { events, answer: last.answer };
  return last?.kind === "failed" ? { events, failure: last.failure, partial: last.partial } : { events };
}

/** Opens, uses and closes; a law that fails closes too. */
export async function withModel(bench: Bench, script: Script, use: (stage: Stage) => Promise<void>): Promise<void> {
  const opened = await bench.open(script);
  const { model, server } = opened;
  try {
    // Only a caller without types leaves it out, and half of the laws would pass for want of anybody to break them.
    ok(server === "talks to nobody" || typeof server?.url === "string", "open() gave no server");
    await use({ model, server: server === "talks to nobody" ? undefined : server });
  } finally {
    await opened.close();
  }
}

/** An answer as what it says, without ids, times and anybody's format. */
export function saidIn({ items }: PartialAnswer): { readonly text: string; readonly reasoning: string } {
  const text = items.map((item) => (item.kind === "assistant" ? textOf(item.parts) : "")).join("");
  const reasoning = items.map((item) => (item.kind === "reasoning" ? item.text : "")).join("");
  return { text, reasoning };
}

/** What a script says, in the same terms. */
export function saidBy({ text, refusal, reasoning = "" }: ScriptedAnswer, { reasoning: shows }: Abilities): object {
  return { text: refusal ?? text ?? "", reasoning: shows ? reasoning : "" };
}

/** The next request of a loop: the answer, and an output for every call. */
export function after(request: ModelRequest, answer: Answer, more: readonly Item[] = []): ModelRequest {
  const outputs = answer.calls.map(
    ({ callId, callKind, name }): OutputItem => ({
      kind: "output",
      callKind,
      callId,
      status: "success",
      parts: [{ type: "text", text: `${name} is done` }],
    }),
  );
  return { ...request, items: [...request.items, ...answer.items, ...outputs, ...more] };
}

/** Waits until the server has seen how a request ended; two seconds are for ever on one machine. */
export async function endingOf(server: ProviderServer, nth = -1): Promise<SeenRequest["ended"]> {
  const clock = new SystemClock();
  for (let waited = 0; waited < 2000; waited += 5) {
    const seen = server.requests.at(nth);
    if (seen !== undefined && seen.ended !== "open") return seen.ended;
    await clock.sleep(5, undefined, "keep-alive");
  }
  return "open";
}
