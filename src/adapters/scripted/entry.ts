/** `holdfast/adapters/scripted`: a model that says what it is told to. No network, no chance, no key. */
import { type ClockDep, SystemClock } from "../../base/clock.ts";
import type { Model } from "../../contracts/model.ts";
import type { Script } from "../../records/script.ts";
import { type ProfileChoice, profileOf } from "../../wire/profiles.ts";
import { writeMessages } from "../../wire/project.ts";
import { askOnce } from "../ask.ts";
import { mustBeSendable } from "../send.ts";
import { saysIn } from "../sent.ts";
import { failureOf } from "./errors.ts";
import { play, ScriptReader } from "./stream.ts";

/** Options of `scripted`. */
export interface ScriptedOptions extends Partial<ClockDep> {
  /** The profile that requests must meet. Default `anthropic`, the strictest. */
  readonly profile?: ProfileChoice;
  /** The name of the model. Default `scripted`. */
  readonly name?: string;
}

/** A model that plays a script: one step for each question. */
export function scripted(script: Script, options: ScriptedOptions = {}): Model {
  const { clock = new SystemClock(), name = "scripted" } = options;
  const profile = profileOf(options.profile ?? "anthropic");
  let asked = 0;
  return {
    name: `scripted:${name}`,
    profile,
    can: { streams: true, sealsReasoning: false, cacheMarks: 0 },
    ask(request, { signal, inspect }) {
      const { messages, instructions } = writeMessages(request.items, profile);
      const { tools } = request;
      mustBeSendable(tools === undefined ? { messages } : { messages, tools }, profile);
      const { toolChoice } = request;
      inspect?.({
        tools: tools ?? [],
        says: (words) => saysIn([messages, instructions], words),
        ...(typeof toolChoice === "object" ? { toolChoice: toolChoice.name } : {}),
      });
      const nth = asked;
      asked += 1;
      const open = async (own: AbortSignal) => play(script, { nth, request }, { clock, signal: own });
      return askOnce({ request, reader: new ScriptReader(`answer-${nth + 1}`, name), open, failureOf }, signal);
    },
  };
}

export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedFault,
  ScriptQuestion,
  ScriptStep,
} from "../../records/script.ts";
export { readScript } from "../../records/script.ts";
