import type { ModelEvent, Usage } from "../../contracts/model.ts";
import { asList, asText, type Fields, fieldsOf } from "../../base/fields.ts";
import type { Draft } from "../answer.ts";
import type { AnswerReader } from "../ask.ts";
import { wordOf } from "../fields.ts";
import { inputOf, itemsOf, stopOf, usageOf } from "./answer.ts";

/** One part of the answer, as the prompt of the next request takes it. */
interface OpenPart {
  part: Fields;
  /** Its place among our calls, when it is one. */
  readonly call: number | undefined;
  /** The arguments as they were streamed, until the call comes whole. */
  json: string;
}

/** Parts that are no part of the answer. */
const SILENT: readonly string[] = ["stream-start", "raw", "ping", "source"];

/** Puts stream parts together; an answer that came whole is one part that has it all. */
export class StreamReader implements AnswerReader {
  #id: string | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  #stop: Draft["stop"];
  readonly #parts: OpenPart[] = [];
  readonly #open = new Map<string, OpenPart>();
  readonly #unread = new Set<string>();
  #calls = 0;

  *read(piece: unknown): Generator<ModelEvent> {
    const event = fieldsOf(piece);
    const type = asText(event["type"]) ?? "a part without a type";
    const kept = keptMetadata(event);
    switch (type) {
      case "response-metadata":
        this.#id = wordOf(event["id"]) ?? this.#id;
        this.#model = wordOf(event["modelId"]) ?? this.#model;
        return;
      case "text-start":
      case "reasoning-start":
        this.#add(`${type} ${String(event["id"])}`, { type: type.slice(0, -6), text: "", ...kept });
        return;
      case "text-delta":
      case "reasoning-delta":
        yield* this.#grow(type, event, kept);
        return;
      case "text-end":
      case "reasoning-end":
      case "tool-input-end":
        this.#keep(event, type, kept);
        return;
      case "tool-input-start":
        yield* this.#startCall(event, kept);
        return;
      case "tool-input-delta":
        yield* this.#growCall(event);
        return;
      case "tool-call":
        yield* this.#call(event, kept);
        return;
      case "tool-result":
        // A preview of what is to come, such as half a picture: kept, it would be a second output of its call.
        if (event["preliminary"] !== true) this.#add(undefined, echoed(event, kept));
        return;
      case "file":
      case "reasoning-file":
      case "tool-approval-request":
        this.#add(undefined, echoed(event, kept));
        return;
      case "custom":
        // Said before the first word, and nothing that a later request could say again.
        if (!String(event["kind"]).endsWith(".message_start")) this.#add(undefined, echoed(event, kept));
        return;
      case "finish":
        this.#stop = stopOf(event["finishReason"]);
        this.#usage = usageOf(fieldsOf(event["usage"]), fieldsOf(event["providerMetadata"]));
        yield { kind: "usage", usage: this.#usage };
        return;
      case "error":
        throw event["error"];
      case "whole":
        yield* this.#whole(fieldsOf(event["answer"]));
        return;
      default:
        if (!SILENT.includes(type)) this.#unread.add(type);
    }
  }

  draft(): Draft {
    const spoken = this.#parts.length > 0 || this.#stop !== undefined;
    return {
      items: spoken ? itemsOf(this.#parts.map(written)) : [],
      unread: [...this.#unread],
      ...(this.#id === undefined ? {} : { id: this.#id }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#stop === undefined ? {} : { stop: this.#stop }),
    };
  }

  #add(key: string | undefined, part: Fields, call?: number): OpenPart {
    const open: OpenPart = { part, call, json: "" };
    this.#parts.push(open);
    if (key !== undefined) this.#open.set(key, open);
    return open;
  }

  *#grow(type: "text-delta" | "reasoning-delta", event: Fields, kept: Fields): Generator<ModelEvent> {
    const kind = type.slice(0, -6);
    const key = `${kind}-start ${String(event["id"])}`;
    const open = this.#open.get(key) ?? this.#add(key, { type: kind, text: "" });
    const text = asText(event["delta"]) ?? "";
    open.part = { ...open.part, ...kept, text: String(open.part["text"]) + text };
    if (text !== "") yield { kind: type, text };
  }

  /** Seals come with the end of what they seal. */
  #keep(event: Fields, type: string, kept: Fields): void {
    const open = this.#open.get(`${type.slice(0, -4)}-start ${String(event["id"])}`);
    if (open !== undefined) open.part = { ...open.part, ...kept };
  }

  *#startCall(event: Fields, kept: Fields): Generator<ModelEvent> {
    const { id, toolName } = event;
    const call = event["providerExecuted"] === true ? undefined : this.#calls++;
    const part = { type: "tool-call", toolCallId: id, toolName, ...executed(event), ...kept };
    this.#add(`tool-input-start ${String(id)}`, part, call);
    if (call !== undefined) yield { kind: "call-delta", index: call, name: asText(toolName) ?? "", arguments: "" };
  }

  *#growCall(event: Fields): Generator<ModelEvent> {
    const open = this.#open.get(`tool-input-start ${String(event["id"])}`);
    if (open === undefined) return;
    const text = asText(event["delta"]) ?? "";
    open.json += text;
    if (open.call !== undefined && text !== "") yield { kind: "call-delta", index: open.call, arguments: text };
  }

  /** The whole call closes the one that was streamed under its id, or stands for itself. */
  *#call(event: Fields, kept: Fields): Generator<ModelEvent> {
    const { toolCallId, toolName, input } = event;
    const key = `tool-input-start ${String(toolCallId)}`;
    const streamed = this.#open.get(key);
    this.#open.delete(key); // an id that comes again is another call
    const ours = event["providerExecuted"] !== true;
    const open = streamed ?? this.#add(undefined, {}, ours ? this.#calls++ : undefined);
    const text = typeof input === "string" ? input : JSON.stringify(input ?? {});
    if (streamed === undefined && open.call !== undefined)
      yield { kind: "call-delta", index: open.call, name: asText(toolName) ?? "", arguments: text };
    open.part = { ...open.part, type: "tool-call", toolCallId, toolName, ...executed(event), ...kept };
    open.json = text;
  }

  *#whole(answer: Fields): Generator<ModelEvent> {
    const response = fieldsOf(answer["response"]);
    yield* this.read({ type: "response-metadata", ...response });
    for (const [nth, piece] of asList(answer["content"]).entries()) {
      const part = fieldsOf(piece);
      const { type, text } = part;
      if (type === "text" || type === "reasoning") {
        const kept = { id: String(nth), providerMetadata: part["providerMetadata"] };
        yield* this.read({ type: `${type}-start`, ...kept });
        yield* this.read({ type: `${type}-delta`, id: String(nth), delta: text });
      } else yield* this.read(part);
    }
    const { finishReason, usage, providerMetadata } = answer;
    yield* this.read({ type: "finish", finishReason, usage, providerMetadata });
  }
}

function executed({ providerExecuted }: Fields): Fields {
  return providerExecuted === true ? { providerExecuted } : {};
}

/** What a provider tells beside a part, and wants to be told again: seals, item ids. */
function keptMetadata({ providerMetadata }: Fields): Fields {
  return providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
}

function echoed({ providerMetadata: _metadata, ...part }: Fields, kept: Fields): Fields {
  return { ...part, ...kept };
}

function written({ part, json }: OpenPart): Fields {
  return part["type"] === "tool-call" ? { ...part, input: inputOf(json) } : part;
}
