import type { Clock } from "../../base/clock.ts";
import type { ModelEvent, Usage } from "../../contracts/model.ts";
import { isFault, type Script, type ScriptedAnswer, type ScriptQuestion, stepFor } from "../../records/script.ts";
import type { Draft } from "../answer.ts";
import type { AnswerReader } from "../ask.ts";
import { itemsOf, stopOf } from "./answer.ts";
import { ScriptedFailure } from "./errors.ts";

interface Stage {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A piece of a scripted answer: an event, and the answer as far as it was said. */
interface Piece {
  readonly event?: ModelEvent;
  readonly said: ScriptedAnswer;
  readonly finished?: true;
}

/** The pieces of one step, as a stream would bring them. */
export async function* play(
  script: Script,
  question: ScriptQuestion,
  stage: Stage,
): AsyncGenerator<Piece, void, undefined> {
  const step = await stepFor(script, question);
  if (!isFault(step)) return yield* pace(step, stage);
  if (step.after !== undefined) for await (const piece of pace(step.after, stage)) if (!piece.finished) yield piece;
  if (step.fault === "silent") await forever(stage.signal);
  throw new ScriptedFailure(step);
}

async function* pace(answer: ScriptedAnswer, { clock, signal }: Stage): AsyncGenerator<Piece, void, undefined> {
  const { cutAfter } = answer;
  const byEvent = cutAfter !== undefined && "events" in cutAfter;
  let left =
    cutAfter === undefined ? Number.POSITIVE_INFINITY : "events" in cutAfter ? cutAfter.events : cutAfter.bytes;
  for (const piece of piecesOf(answer)) {
    if (answer.slowMs !== undefined) await clock.sleep(answer.slowMs, signal, "keep-alive");
    signal.throwIfAborted();
    left -= byEvent ? 1 : JSON.stringify(piece.event ?? {}).length;
    if (left < 0) return;
    yield piece;
  }
}

function* piecesOf(answer: ScriptedAnswer): Generator<Piece> {
  const { reasoning, text, refusal, calls = [], usage } = answer;
  let said: ScriptedAnswer = {};
  const spoken = refusal === undefined ? "text" : "refusal";
  for (const [field, whole, kind] of [
    ["reasoning", reasoning, "reasoning-delta"],
    [spoken, refusal ?? text, "text-delta"],
  ] as const) {
    for (const word of whole === undefined ? [] : words(whole)) {
      said = { ...said, [field]: (said[field] ?? "") + word };
      yield { event: { kind, text: word }, said };
    }
  }
  for (const [index, call] of calls.entries()) {
    const earlier = calls.slice(0, index);
    let inputText = "";
    for (const word of ["", ...words(call.inputText ?? JSON.stringify(call.input ?? {}))]) {
      inputText += word;
      said = { ...said, calls: [...earlier, { ...call, inputText }] };
      yield { event: { kind: "call-delta", index, name: call.name, arguments: word }, said };
    }
  }
  if (usage !== undefined) yield { event: { kind: "usage", usage }, said: { ...said, usage } };
  yield { said: answer, finished: true };
}

/** Pieces of a few letters, so that words and escapes are cut as streams cut them. */
function words(text: string): readonly string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}

export class ScriptReader implements AnswerReader {
  readonly #id: string;
  readonly #model: string;
  #said: ScriptedAnswer = {};
  #finished = false;

  constructor(id: string, model: string) {
    this.#id = id;
    this.#model = model;
  }

  *read(piece: unknown): Generator<ModelEvent> {
    const { event, said, finished } = piece as Piece;
    this.#said = said;
    this.#finished ||= finished === true;
    if (event !== undefined) yield event;
  }

  draft(): Draft {
    const usage: Usage | undefined = this.#said.usage;
    const reason = stopOf(this.#said);
    return {
      items: itemsOf(this.#said, this.#id),
      id: this.#id,
      model: this.#model,
      unread: [],
      ...(usage === undefined ? {} : { usage }),
      ...(this.#finished ? { stop: { reason, text: reason } } : {}),
    };
  }
}

function forever(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
  });
}
