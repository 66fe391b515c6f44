import { shownJson } from "../../base/shown-name.ts";
import type { Json } from "../../base/json.ts";
import type { CallOutcome, ModelFailure, ModelFailureKind, RunEnd, RunEvent, WaitingCall } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { paint } from "../paint.ts";
import { shortCall } from "../session/calls.ts";
import { grouped, harmless, lasted, oneLine } from "../words.ts";
import { wrapped } from "../wrap.ts";

const MOST_LINES = 12;

/** Shows a turn as it happens: words as they arrive, a line for every call. */
export class Follower {
  readonly #terminal: Terminal;
  readonly #begun = new Map<string, { readonly tool: string; readonly input?: Json; readonly at: number }>();
  readonly #shown = new Map<string, number>();
  #column = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(event: RunEvent): void {
    switch (event.kind) {
      case "text":
        return this.#words(event.text);
      case "call-opened":
        return void this.#begun.set(event.callId, { tool: event.tool, input: event.input, at: performance.now() });
      case "call-closed":
        return this.#closed(event.callId, event.outcome);
      case "call-progress":
        return this.#progress(event.callId, event.text);
      case "retry":
        return this.line(
          paint(this.#terminal, "yellow", `  … ${event.failure.kind}; asked again in ${lasted(event.waitMs)}`),
        );
      case "reclaimed": {
        const { tokensBefore, tokensAfter } = event.reclaim;
        return this.line(
          paint(
            this.#terminal,
            "dim",
            `  … the view was squeezed: ${grouped(tokensBefore)} to ${grouped(tokensAfter)} tokens`,
          ),
        );
      }
      case "rules-unread":
        for (const { path, line, why } of event.faults)
          this.line(
            paint(this.#terminal, "yellow", `  … no rule: ${path}${line === undefined ? "" : `:${line}`}: ${why}`),
          );
        return;
      case "ask-failed":
        return this.line(
          paint(this.#terminal, "yellow", `  … ${event.call.tool} is still waiting: ${harmless(event.error.message)}`),
        );
      case "price-failed":
        return this.line(paint(this.#terminal, "yellow", `  … ${harmless(event.error.message)}`));
      case "repaired":
        return this.line(paint(this.#terminal, "yellow", `  … repaired for the model: ${event.fault}`));
      default:
        return; // shown by what follows them, or of no interest while one watches
    }
  }

  /** A line of its own, wherever the words have stopped. */
  line(text: string): void {
    this.#terminal.out(this.#column === 0 ? text : `\n${text}`);
    this.#column = 0;
  }

  #words(text: string): void {
    const shown = harmless(text);
    this.#terminal.write(shown);
    const last = shown.lastIndexOf("\n");
    this.#column = last === -1 ? this.#column + shown.length : shown.length - last - 1;
  }

  /** The first lines that a command puts out; the rest is in the session. */
  #progress(callId: string, text: string): void {
    const shown = this.#shown.get(callId) ?? 0;
    const lines = harmless(text)
      .split("\n")
      .filter((line) => line.trim() !== "");
    const room = (this.#terminal.columns ?? 120) - 6;
    for (const line of lines.slice(0, Math.max(0, MOST_LINES - shown)))
      this.line(paint(this.#terminal, "dim", `    │ ${oneLine(line, room)}`));
    if (shown < MOST_LINES && shown + lines.length > MOST_LINES) this.line(paint(this.#terminal, "dim", "    │ …"));
    this.#shown.set(callId, shown + lines.length);
  }

  #closed(callId: string, outcome: CallOutcome): void {
    const { tool, input, at } = this.#begun.get(callId) ?? { tool: outcome.tool, at: performance.now() };
    const mark = outcome.ok ? paint(this.#terminal, "green", "✓") : paint(this.#terminal, "red", "✗");
    const took = `${shortCall(callId)}  ${lasted(performance.now() - at)}`;
    const room = (this.#terminal.columns ?? 120) - `  ✓ ${tool}   ${took}`.length;
    const asked = input === undefined ? "" : ` ${oneLine(shownJson(input), room)}`;
    this.line(`  ${mark} ${tool}${asked}  ${paint(this.#terminal, "dim", took)}`);
    if (!outcome.ok) this.line(`    ${oneLine(wordsOf(outcome.output), (this.#terminal.columns ?? 120) - 4)}`);
  }
}

function wordsOf(output: unknown): string {
  return typeof output === "string" ? output : (JSON.stringify(output) ?? "");
}

/** The whole of what somebody is asked: nobody can consent to the end of a command that is not shown. */
export function askedLines({ tool, input }: WaitingCall, { columns }: Terminal): readonly string[] {
  return wrapped(`${tool} ${shownJson(input)}`, columns);
}

/** How a turn ended, when that is not simply its last word. */
export function endLine(end: RunEnd, model: string): string | undefined {
  switch (end.status) {
    case "done":
      return undefined;
    case "stopped":
      return `the model stopped: ${end.stop}`;
    case "limit":
      return `a limit was reached: ${LIMITS[end.limit] ?? end.limit}; ask again to continue`;
    case "waiting":
      return `${end.waiting.map(({ tool }) => tool).join(", ")} ${end.waiting.length === 1 ? "waits" : "wait"} for you`;
    case "aborted":
      return "cancelled; what was running has changed nothing";
    case "refused":
      return "the request was not sent: prompt, tools and mode did not agree";
    case "failed":
      return harmless(`${model} cannot be asked: ${end.failure.kind}: ${end.failure.message}${waitWords(end.failure)}`);
    default:
      return end satisfies never;
  }
}

/** It asked for more patience than a run has: whoever waits should know for how long. */
function waitWords({ retryAfterMs }: Pick<ModelFailure, "retryAfterMs">): string {
  return retryAfterMs === undefined ? "" : ` (it asks to wait ${lasted(retryAfterMs)})`;
}

/** As its flag and its key in holdfast.toml are called. */
const LIMITS: Readonly<Record<string, string>> = { timeMs: "time" };

const LATER = "wait, or ask another model";

/** What to try when a model cannot be asked. */
export const REMEDIES: Readonly<Record<ModelFailureKind, string>> = {
  aborted: "ask again",
  "rate-limited": LATER,
  "out-of-quota": "look at your account with the provider, or ask another model",
  overloaded: LATER,
  "provider-broken": LATER,
  "timed-out": LATER,
  unreachable: "start the server, or correct its address; is this machine online?",
  cut: "ask again",
  unreadable: "check that the address is that of a model's server, or update holdfast",
  "too-long": "set a smaller `window` in holdfast.toml",
  "refused-request": "check the model's name, and what the provider says of it",
  "not-allowed": "check the key of your account, and that it may use this model",
};
