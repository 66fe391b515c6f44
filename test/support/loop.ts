import { anthropic } from "../../src/adapters/anthropic/entry.ts";
import { openai } from "../../src/adapters/openai/entry.ts";
import { scripted } from "../../src/adapters/scripted/entry.ts";
import type { Model } from "../../src/contracts/model.ts";
import type { Script } from "../../src/records/script.ts";
import type { RunEnd, RunEvent } from "../../src/turn/events.ts";

/** For unit tests in rooms that may not see an adapter. */
export { quickjs } from "../../src/adapters/quickjs/entry.ts";
export { scripted } from "../../src/adapters/scripted/entry.ts";

export interface Watched {
  readonly events: readonly RunEvent[];
  readonly end: RunEnd;
}

/** Follows a turn to its end and keeps what was seen. */
export async function watch(
  turn: AsyncGenerator<RunEvent, RunEnd, undefined>,
  hear: (event: RunEvent) => void = () => {},
): Promise<Watched> {
  const events: RunEvent[] = [];
  for (;;) {
    const next = await turn.next();
    if (next.done === true) return { events, end: next.value };
    events.push(next.value);
    hear(next.value);
  }
}

/** `text call-opened … end`, each kind once in a row. */
export function shapeOf(events: readonly RunEvent[]): string {
  const kinds = events.map(({ kind }) => kind).filter((kind) => kind !== "call-written");
  return kinds.filter((kind, at) => kind !== kinds[at - 1]).join(" ");
}

const key = { model: "m", apiKey: "k" };

/** Every way to ask a model, by name. Those that speak to a server are given its address. */
export const WAYS: Readonly<Record<string, (url: string, script: Script) => Model>> = {
  "openai chat": (url) => openai({ ...key, api: "chat", baseURL: `${url}/v1` }),
  "openai responses": (url) => openai({ ...key, baseURL: `${url}/v1` }),
  anthropic: (url) => anthropic({ ...key, baseURL: url }),
  scripted: (_url, script) => scripted(script),
};
