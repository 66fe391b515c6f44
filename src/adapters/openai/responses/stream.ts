import type { ModelEvent, Usage } from "../../../contracts/model.ts";
import type { Draft } from "../../answer.ts";
import type { AnswerReader } from "../../ask.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../../base/fields.ts";
import { ToldFailure } from "../../failure.ts";
import { countOf, wordOf } from "../../fields.ts";
import { itemsOf, stopOf, usageOf } from "./answer.ts";

/** An output item that has begun and is not done. */
interface OpenItem {
  readonly item: Fields;
  readonly call: number | undefined;
  text: string;
}

const CALLS: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"]);
const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.cancelled"]);

const THOUGHTS: ReadonlySet<string> = new Set([
  "response.reasoning_summary_text.delta",
  "response.reasoning_text.delta",
]);

/** Puts the events of a response together. Events it does not know lose nothing: the last one carries every item whole. */
export class ResponsesReader implements AnswerReader {
  #response: Fields = {};
  #finished: readonly unknown[] | undefined;
  #usage: Usage | undefined;
  readonly #done = new Map<number, Fields>();
  readonly #open = new Map<number, OpenItem>();
  #calls = 0;

  *read(piece: unknown): Generator<ModelEvent> {
    const event = fieldsOf(piece);
    const type = asText(event["type"]) ?? "";
    if (event["object"] === "response") yield* this.#whole(event);
    else if (isFields(event["response"])) yield* this.#state(type, event["response"]);
    else if (type === "response.output_item.added") yield* this.#added(event);
    else if (type === "response.output_item.done") this.#closed(event);
    else if (type === "error")
      throw failed(event); // the SDK throws it itself from version 7 on
    else yield* this.#delta(type, event);
  }

  draft(): Draft {
    const output = this.#finished ?? this.#outputSoFar();
    const id = wordOf(this.#response["id"]);
    const model = wordOf(this.#response["model"]);
    return {
      items: itemsOf(output),
      unread: [],
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#finished === undefined ? {} : { stop: stopOf(this.#response, output) }),
    };
  }

  *#state(type: string, response: Fields): Generator<ModelEvent> {
    this.#response = response;
    if (type === "response.failed") throw failed(response["error"]);
    if (!ENDS.has(type)) return;
    const output = asList(response["output"]);
    this.#finished = output.length > 0 ? output : this.#outputSoFar(); // some servers end with an empty list
    if (isFields(response["usage"])) {
      this.#usage = usageOf(response["usage"]);
      yield { kind: "usage", usage: this.#usage };
    }
  }

  *#added(event: Fields): Generator<ModelEvent> {
    const item = fieldsOf(event["item"]);
    const call = CALLS.has(item["type"]) ? this.#calls++ : undefined;
    this.#open.set(countOf(event["output_index"]) ?? 0, { item, call, text: "" });
    if (call === undefined) return;
    const name = wordOf(item["name"]);
    yield { kind: "call-delta", index: call, ...(name === undefined ? {} : { name }), arguments: "" };
  }

  #closed(event: Fields): void {
    const at = countOf(event["output_index"]) ?? 0;
    this.#done.set(at, fieldsOf(event["item"]));
    this.#open.delete(at);
  }

  *#delta(type: string, event: Fields): Generator<ModelEvent> {
    const open = this.#open.get(countOf(event["output_index"]) ?? 0);
    if (isNextThought(type, event, open)) yield { kind: "reasoning-delta", text: "\n" };
    const text = asText(event["delta"]);
    if (text === undefined || text === "") return;
    if (open !== undefined) open.text += text;
    if (type === "response.output_text.delta" || type === "response.refusal.delta") yield { kind: "text-delta", text };
    else if (THOUGHTS.has(type)) yield { kind: "reasoning-delta", text };
    else if (open?.call !== undefined) yield { kind: "call-delta", index: open.call, arguments: text };
  }

  /** A response that was not streamed. */
  *#whole(response: Fields): Generator<ModelEvent> {
    for (const [at, item] of asList(response["output"]).entries()) {
      const index = CALLS.has(fieldsOf(item)["type"]) ? this.#calls++ : undefined;
      for (const read of itemsOf([item])) {
        if (read.kind === "reasoning" && read.text !== "") yield { kind: "reasoning-delta", text: read.text };
        if (read.kind === "assistant")
          for (const part of read.parts) if (part.type === "text") yield { kind: "text-delta", text: part.text };
        if (read.kind === "call" && index !== undefined)
          yield { kind: "call-delta", index, name: read.name, arguments: read.inputText ?? "" };
      }
      this.#done.set(at, fieldsOf(item));
    }
    yield* this.#state(response["status"] === "failed" ? "response.failed" : "response.completed", response);
  }

  /** Items in their order; one that was cut says so. */
  #outputSoFar(): readonly Fields[] {
    const all = [...this.#done].concat([...this.#open].map(([at, open]) => [at, cutItem(open)]));
    return all.sort(([one], [other]) => one - other).map(([, item]) => item);
  }
}

/** A part of reasoning behind another, of its summary or of itself: they are lines of one text. */
function isNextThought(type: string, event: Fields, open: OpenItem | undefined): boolean {
  if (type === "response.reasoning_summary_part.added") return (countOf(event["summary_index"]) ?? 0) > 0;
  const begins = type === "response.content_part.added" && fieldsOf(event["part"])["type"] === "reasoning_text";
  return begins && open !== undefined && open.text !== "";
}

function cutItem({ item, call, text }: OpenItem): Fields {
  const cut = { ...item, status: "incomplete" };
  if (call !== undefined) return { ...cut, [item["type"] === "custom_tool_call" ? "input" : "arguments"]: text };
  if (item["type"] === "reasoning") return { ...cut, summary: [{ type: "summary_text", text }] };
  if (item["type"] === "message") return { ...cut, content: [{ type: "output_text", text, annotations: [] }] };
  return cut;
}

/** The provider gave up in the middle. */
function failed(error: unknown): ToldFailure {
  const { code, message } = fieldsOf(error);
  return new ToldFailure({ type: "server_error", code, message });
}
