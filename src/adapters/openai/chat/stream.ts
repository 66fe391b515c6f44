import type { ModelEvent, Usage } from "../../../contracts/model.ts";
import type { Draft } from "../../answer.ts";
import type { AnswerReader } from "../../ask.ts";
import { asList, asText, type Fields, fieldsOf, isFields } from "../../../base/fields.ts";
import { ToldFailure } from "../../failure.ts";
import { countOf, wordOf } from "../../fields.ts";
import { itemsOf, stopOf, usageOf } from "./answer.ts";
import { type Grown, GrowingList } from "./growing.ts";

interface OpenCall {
  readonly index: number;
  /** As which the server counts it. */
  readonly at: number | undefined;
  id: string;
  readonly custom: boolean;
  name: string;
  text: string;
  /** What came beside: fields that this version does not know, a seal among them. */
  beside: Fields;
}

/** Where Google's server keeps the seals of texts and calls, without which it refuses the next request. */
const CARRIED = "extra_content";
/** What is put together in a list of its own. */
const LISTED: ReadonlySet<string> = new Set(["role", "content", "reasoning_details", "tool_calls"]);

/** Puts chat chunks together; a whole completion is one chunk that has it all. */
export class ChatReader implements AnswerReader {
  #id: string | undefined;
  #model: string | undefined;
  #usage: Usage | undefined;
  #finish: string | undefined;
  /** Which of several answers is read. */
  #choice: number | undefined;
  /** A message that came whole, kept as it came. */
  #whole: Fields | undefined;
  readonly #texts: Record<string, string> = {};
  readonly #content = new GrowingList();
  readonly #details = new GrowingList();
  #thought = "";
  #carried: unknown;
  readonly #calls: OpenCall[] = [];
  readonly #lastAt = new Map<number | undefined, OpenCall>();
  readonly #unread = new Set<string>();

  *read(piece: unknown): Generator<ModelEvent> {
    const chunk = fieldsOf(piece);
    this.#id ??= wordOf(chunk["id"]);
    this.#model ??= wordOf(chunk["model"]);
    const choice = this.#choiceIn(chunk);
    const error = chunk["error"] ?? choice["error"];
    if (wordOf(error) !== undefined || Object.keys(fieldsOf(error)).length > 0) throw new ToldFailure(error);
    if (isFields(choice["message"])) this.#whole = choice["message"];
    yield* this.#delta(fieldsOf(choice["delta"] ?? choice["message"]));
    this.#finish = wordOf(choice["finish_reason"]) ?? this.#finish;
    if (this.#finish === "error") throw new ToldFailure({ message: "The server ended its answer with an error." });
    if (isFields(chunk["usage"])) {
      this.#usage = usageOf(chunk["usage"]);
      yield { kind: "usage", usage: this.#usage };
    }
  }

  draft(): Draft {
    const message = this.#whole ?? this.#message();
    return {
      items: this.#hasSpoken() || this.#finish !== undefined ? itemsOf(message, this.#thought) : [],
      unread: [...this.#unread],
      ...(this.#id === undefined ? {} : { id: this.#id }),
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#finish === undefined ? {} : { stop: stopOf(this.#finish, message) }),
    };
  }

  /** Whoever asks for several answers has them in one stream: read as one, their words would run together. */
  #choiceIn(chunk: Fields): Fields {
    const choices = asList(chunk["choices"]).map(fieldsOf);
    const [first] = choices;
    if (first !== undefined) this.#choice ??= countOf(first["index"]) ?? 0;
    return choices.find((choice) => (countOf(choice["index"]) ?? this.#choice) === this.#choice) ?? {};
  }

  *#delta(delta: Fields): Generator<ModelEvent> {
    const content = this.#grow(this.#content, "content", delta);
    yield* this.#think(delta, content);
    for (const { part, words } of content) {
      if (part["type"] === "text" && words !== "") yield { kind: "text-delta", text: words };
    }
    for (const [field, value] of Object.entries(delta)) {
      if (value === null || value === undefined || LISTED.has(field)) continue;
      const text = asText(value);
      if (field === CARRIED) this.#carried = value;
      else if (text === undefined) {
        if (this.#whole === undefined) this.#unread.add(field); // a whole message keeps what it came with
      } else {
        this.#texts[field] = (this.#texts[field] ?? "") + text;
        if (field === "refusal" && text !== "") yield { kind: "text-delta", text };
      }
    }
    for (const call of asList(delta["tool_calls"])) yield this.#call(fieldsOf(call));
  }

  /** Servers tell one thought under several names at once: the first that says something is told. */
  *#think(delta: Fields, content: readonly Grown[]): Generator<ModelEvent> {
    const details = this.#grow(this.#details, "reasoning_details", delta);
    const thinking = content.filter(({ part }) => part["type"] === "thinking");
    const named = wordOf(delta["reasoning_content"]) ?? wordOf(delta["reasoning"]);
    const text = named ?? (this.#inLines(details) || this.#inLines(thinking));
    if (text === "") return;
    this.#thought += text;
    yield { kind: "reasoning-delta", text };
  }

  /** Thoughts that are parts of their own are lines of one text. */
  #inLines(thoughts: readonly Grown[]): string {
    let text = "";
    for (const { words, opens } of thoughts) {
      const behind = opens && words !== "" && this.#thought + text !== "";
      text += behind ? `\n${words}` : words;
    }
    return text;
  }

  #grow(list: GrowingList, field: string, delta: Fields): readonly Grown[] {
    const value = delta[field];
    return (typeof value === "string" ? [value] : asList(value)).flatMap((piece) => {
      if (piece === "") return []; // how most streams begin: before a thought it would be a blank text
      if (isFields(piece)) return [list.add(piece)];
      if (typeof piece === "string") return [list.add({ type: "text", text: piece })];
      if (this.#whole === undefined) this.#unread.add(field);
      return [];
    });
  }

  #call(delta: Fields): ModelEvent {
    const custom = isFields(delta["custom"]);
    const body = fieldsOf(delta["function"] ?? delta["custom"]);
    const call = this.#callOf(delta, wordOf(body["name"]), custom);
    const text = argumentsText(body[custom ? "input" : "arguments"]);
    call.text += text;
    call.beside = { ...call.beside, ...besideOf(delta) };
    const name = call.name === "" ? {} : { name: call.name };
    return { kind: "call-delta", index: call.index, ...name, arguments: text };
  }

  /**
   * Which call a delta continues. Some servers count every call as the first, or do not count, so a new id opens a new
   * call, one that is known goes on with its own, and a name opens one where nothing is counted.
   */
  #callOf(delta: Fields, name: string | undefined, custom: boolean): OpenCall {
    const at = countOf(delta["index"]);
    const id = wordOf(delta["id"]);
    const opens = at === undefined && name !== undefined;
    const known = opens ? undefined : (this.#callUnder(id, at) ?? this.#callAt(id, at));
    if (known !== undefined) {
      known.id ||= id ?? "";
      known.name ||= name ?? "";
    }
    const call = known ?? {
      index: this.#calls.length,
      at,
      id: id ?? "",
      custom,
      name: name ?? "",
      text: "",
      beside: {},
    };
    if (known === undefined) this.#calls.push(call);
    this.#lastAt.set(at, call);
    this.#lastAt.set(undefined, call);
    return call;
  }

  /** Two calls may share an id and be counted apart, so the number must be the same. */
  #callUnder(id: string | undefined, at: number | undefined): OpenCall | undefined {
    if (id === undefined) return undefined;
    return this.#calls.find((call) => call.id === id && (at === undefined || call.at === at));
  }

  /** The call that spoke last under a number, or of all where nothing is counted, unless it is known by another id. */
  #callAt(id: string | undefined, at: number | undefined): OpenCall | undefined {
    const last = this.#lastAt.get(at);
    return id !== undefined && last !== undefined && last.id !== "" ? undefined : last;
  }

  #hasSpoken(): boolean {
    return (
      this.#calls.length > 0 ||
      this.#carried !== undefined ||
      this.#details.parts.length > 0 ||
      this.#content.parts.some((part) => part["type"] !== "text" || part["text"] !== "") ||
      Object.values(this.#texts).some((text) => text !== "")
    );
  }

  /** The message as the provider would have sent it whole. */
  #message(): Fields {
    const { refusal, ...others } = this.#texts;
    const content = plainly(this.#content.parts);
    const silent = content === "" && (this.#calls.length > 0 || refusal !== undefined);
    return {
      role: "assistant",
      content: silent ? null : content,
      ...(refusal === undefined ? {} : { refusal }),
      ...others,
      ...(this.#details.parts.length === 0 ? {} : { reasoning_details: this.#details.parts }),
      ...(this.#carried === undefined ? {} : { [CARRIED]: this.#carried }),
      ...(this.#calls.length === 0 ? {} : { tool_calls: this.#calls.map(written) }),
    };
  }
}

/** Texts that are nothing but text are one: servers that send a list take no list back. */
function plainly(parts: readonly Fields[]): string | readonly Fields[] {
  const isPlain = (part: Fields) => part["type"] === "text" && Object.keys(part).length === 2;
  return parts.every(isPlain) ? parts.map((part) => asText(part["text"]) ?? "").join("") : [...parts];
}

/** Some servers send arguments as the object they stand for. Read as none, the call would be run with its defaults. */
function argumentsText(value: unknown): string {
  return asText(value) ?? (isFields(value) ? JSON.stringify(value) : "");
}

function besideOf({
  index: _index,
  id: _id,
  type: _type,
  function: _function,
  custom: _custom,
  ...rest
}: Fields): Fields {
  return rest;
}

function written({ id, custom, name, text, beside }: OpenCall): object {
  return custom
    ? { ...beside, id, type: "custom", custom: { name, input: text } }
    : { ...beside, id, type: "function", function: { name, arguments: text } };
}
