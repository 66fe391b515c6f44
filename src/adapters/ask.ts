import { HoldfastError } from "../base/errors.ts";
import type { ModelEvent, ModelFailure, ModelRequest, PartialAnswer } from "../contracts/model.ts";
import { answerFrom, type Draft, partialFrom } from "./answer.ts";
import { aborted, cut } from "./failure.ts";

/** Puts the pieces of a provider's answer together. */
export interface AnswerReader {
  /** Reads one piece, and yields what is new in it. */
  read(piece: unknown): Iterable<ModelEvent>;
  /** The answer so far. It is complete once it has a stop reason. */
  draft(): Draft;
}

/** What `askOnce` needs for one question. */
export interface Asking {
  readonly request: ModelRequest;
  readonly reader: AnswerReader;
  /** Sends the request and returns the pieces of the answer. They must end when the signal aborts. */
  readonly open: (signal: AbortSignal) => PromiseLike<AsyncIterable<unknown>>;
  /** Turns an error of the vendor into a failure. `begun`: part of the answer had already come. */
  readonly failureOf: (thrown: unknown, begun: boolean) => ModelFailure;
}

/** Asks one question with one request, and yields exactly one ending, however the asking ends. */
export async function* askOnce(asking: Asking, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
  const { reader, open, failureOf } = asking;
  const failed = (failure: ModelFailure): ModelEvent => ({
    kind: "failed",
    failure,
    partial: partialOf(reader),
  });
  if (signal.aborted) return yield failed(aborted("no"));
  // The SDKs never see the caller's signal: what they would leave on it lives as long as the session.
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let begun = false;
  try {
    for await (const piece of await open(own.signal)) {
      begun = true;
      if (signal.aborted) break;
      yield* reader.read(piece);
    }
    if (signal.aborted) return yield failed(aborted(begun ? "yes" : "maybe"));
    const draft = reader.draft();
    // SDKs end a stream that was cut like one that was finished.
    if (draft.stop === undefined) return yield failed(cut(begun));
    yield { kind: "end", answer: answerFrom(draft, draft.stop, asking.request) };
  } catch (thrown) {
    if (HoldfastError.is(thrown)) throw thrown;
    yield failed(signal.aborted ? aborted(begun ? "yes" : "maybe") : failureOf(thrown, begun));
  } finally {
    signal.removeEventListener("abort", abort);
    own.abort(); // whoever walks away from the events ends the request
  }
}

/** Pieces that cannot be put together are a failure already, and must not keep it from being told. */
function partialOf(reader: AnswerReader): PartialAnswer {
  try {
    return partialFrom(reader.draft());
  } catch {
    return { items: [], unread: [] };
  }
}

/** Turns an answer that arrived whole into a stream of one piece. */
export async function* onePiece(answer: PromiseLike<unknown>): AsyncGenerator<unknown, void, undefined> {
  yield await answer;
}
