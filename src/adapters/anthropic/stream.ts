import { parseAsWritten } from "../../base/json.ts";
import type { ModelEvent, Usage } from "../../contracts/model.ts";
import type { Draft } from "../answer.ts";
import type { AnswerReader } from "../ask.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../base/fields.ts";
import { ToldFailure } from "../failure.ts";
import { countOf, wordOf } from "../fields.ts";
import { itemsOf, stopOf, usageOf } from "./answer.ts";

/** A block that grows: what it began with, what was added, and the arguments as text. */
interface OpenBlock {
  block: Fields;
  /** Its place among our calls, when it is one. */
  readonly call: number | undefined;
  json: string;
}

/** Puts message events together; a whole message is one event that has it all. */
export class MessagesReader implements AnswerReader {
  #message: Fields = {};
  #counts: Fields = {};
  #usage: Usage | undefined;
  #stop: string | undefined;
  readonly #blocks: OpenBlock[] = [];
  readonly #unread = new Set<string>();
  #calls = 0;

  *read(piece: unknown): Generator<ModelEvent> {
    const event = fieldsOf(piece);
    const at = countOf(event["index"]) ?? this.#blocks.length - 1;
    switch (event["type"]) {
      case "message_start":
        this.#message = fieldsOf(event["message"]);
        this.#counts = fieldsOf(this.#message["usage"]);
        if (isFields(this.#message["usage"])) this.#usage = usageOf(this.#counts); // all that is known if the answer breaks off
        return;
      case "content_block_start":
        yield* this.#start(at, fieldsOf(event["content_block"]));
        return;
      case "content_block_delta":
        yield* this.#delta(this.#blocks[at], fieldsOf(event["delta"]));
        return;
      case "message_delta":
        this.#stop = wordOf(fieldsOf(event["delta"])["stop_reason"]) ?? this.#stop;
        yield* this.#count(event["usage"]);
        return;
      case "message":
        yield* this.#whole(event);
        return;
      case "content_block_stop":
        yield* this.#close(this.#blocks[at]);
        return;
      case "error":
        throw new ToldFailure(event); // the SDK throws it itself; other clients hand it on
      case "message_stop":
      case "ping":
        return;
      default:
        this.#unread.add(asText(event["type"]) ?? "an event without a type");
    }
  }

  draft(): Draft {
    const id = wordOf(this.#message["id"]);
    const model = wordOf(this.#message["model"]);
    const spoken = this.#blocks.length > 0 || this.#stop !== undefined;
    return {
      items: spoken ? itemsOf(this.#blocks.filter(Boolean).map(written)) : [], // a server that does not count from 0 leaves holes
      unread: [...this.#unread],
      ...(id === undefined ? {} : { id }),
      ...(model === undefined ? {} : { model }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#stop === undefined ? {} : { stop: stopOf(this.#stop) }),
    };
  }

  *#start(at: number, block: Fields): Generator<ModelEvent> {
    const call = block["type"] === "tool_use" ? this.#calls++ : undefined;
    this.#blocks[at] = { block, call, json: "" };
    const name = wordOf(block["name"]);
    if (call !== undefined)
      yield { kind: "call-delta", index: call, ...(name === undefined ? {} : { name }), arguments: "" };
    const text = wordOf(block["text"]);
    if (text !== undefined) yield { kind: "text-delta", text };
    const thought = wordOf(block["thinking"]);
    if (thought !== undefined) yield { kind: "reasoning-delta", text: thought };
  }

  /** Arguments that came with their block, and not in pieces. */
  *#close(open: OpenBlock | undefined): Generator<ModelEvent> {
    const { input } = open?.block ?? {};
    if (open?.call === undefined || open.json !== "" || !isFields(input) || Object.keys(input).length === 0) return;
    yield { kind: "call-delta", index: open.call, arguments: JSON.stringify(input) };
  }

  *#delta(open: OpenBlock | undefined, delta: Fields): Generator<ModelEvent> {
    const type = asText(delta["type"]) ?? "a delta without a type";
    const grow = open === undefined ? undefined : GROWTH[type];
    if (open === undefined || grow === undefined) {
      this.#unread.add(type);
      return;
    }
    const event = grow(open, delta);
    if (event !== undefined) yield event;
  }

  *#count(usage: unknown): Generator<ModelEvent> {
    if (!isFields(usage)) return;
    const said = Object.entries(usage).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(said) };
    this.#usage = usageOf(this.#counts);
    yield { kind: "usage", usage: this.#usage };
  }

  /** A message that was not streamed. */
  *#whole(message: Fields): Generator<ModelEvent> {
    this.#message = message;
    for (const [at, block] of asList(message["content"]).entries()) {
      const fields = fieldsOf(block);
      yield* this.#start(at, fields);
      const call = this.#blocks[at]?.call;
      if (call !== undefined)
        yield { kind: "call-delta", index: call, arguments: JSON.stringify(fields["input"] ?? {}) };
    }
    this.#stop = wordOf(message["stop_reason"]);
    yield* this.#count(message["usage"]);
  }
}

/** How each delta grows its block, and what it tells. */
const GROWTH: Readonly<Record<string, (open: OpenBlock, delta: Fields) => ModelEvent | undefined>> = {
  text_delta: (open, delta) => {
    const text = append(open, "text", delta["text"]);
    return { kind: "text-delta", text };
  },
  thinking_delta: (open, delta) => {
    const text = append(open, "thinking", delta["thinking"]);
    return { kind: "reasoning-delta", text };
  },
  signature_delta: (open, delta) => {
    append(open, "signature", delta["signature"]);
    return undefined;
  },
  input_json_delta: (open, delta) => {
    const text = asText(delta["partial_json"]) ?? "";
    open.json += text;
    return open.call === undefined ? undefined : { kind: "call-delta", index: open.call, arguments: text };
  },
  // Sent back without its summary it would be all that is left of the conversation, and say nothing.
  compaction_delta: (open, { type: _type, content, ...sealed }) => {
    if (asText(content) !== undefined) append(open, "content", content); // null where there is no summary
    open.block = { ...open.block, ...sealed };
    return undefined;
  },
  citations_delta: (open, delta) => {
    open.block = { ...open.block, citations: [...asList(open.block["citations"]), delta["citation"]] };
    return undefined;
  },
};

function append(open: OpenBlock, field: string, value: unknown): string {
  const text = asText(value) ?? "";
  open.block = { ...open.block, [field]: (asText(open.block[field]) ?? "") + text };
  return text;
}

/** The block as it would have come whole. Arguments that are no object stay text, so that nothing of them is lost. */
function written({ block, json }: OpenBlock): Fields {
  if (json === "") return block;
  const parsed = parseAsWritten(json);
  return { ...block, input: parsed.ok && isFields(parsed.value) ? parsed.value : json };
}
