import type { KernelEvent } from "../../contracts/event-sink.ts";
import { wordIn } from "../facts.ts";
import { attributesOf, factsOf } from "./names.ts";
import {
  type OtelApi,
  type OtelAttributes,
  type OtelContext,
  type OtelSpan,
  type OtelTracer,
  SPAN_KIND,
  STATUS_ERROR,
} from "./vendor.ts";

interface OpenSpan {
  readonly span: OtelSpan;
  readonly context: OtelContext;
}

/** The spans of one session: a turn, in it its requests and its calls, and in those the calls they made. */
class SessionSpans {
  turn: OpenSpan | undefined;
  request: OpenSpan | undefined;
  readonly calls = new Map<string, OpenSpan>();
}

/** Turns events into spans. What has no length is an event on the span in which it happened. */
export function spansOf(api: OtelApi, tracer: OtelTracer): (event: KernelEvent, around: OtelContext) => void {
  const sessions = new Map<string, SessionSpans>();
  const begin = (event: KernelEvent, name: string, kind: number, under: OtelContext): OpenSpan => {
    const attributes = attributesOf(event);
    attributes["gen_ai.conversation.id"] = event.session;
    addSaid(attributes, event, "input");
    const span = tracer.startSpan(name, { kind, startTime: new Date(event.at), attributes }, under);
    return { span, context: api.trace.setSpan(under, span) };
  };
  const end = (open: OpenSpan | undefined, event: KernelEvent): void => {
    if (open === undefined) return;
    const attributes = attributesOf(event);
    const failed = attributes["error.type"];
    addSaid(attributes, event, "output");
    open.span.setAttributes(attributes);
    if (typeof failed === "string") open.span.setStatus({ code: STATUS_ERROR, message: failed });
    open.span.end(new Date(event.at));
  };
  return (event, around) => {
    let spans = sessions.get(event.session);
    if (spans === undefined) sessions.set(event.session, (spans = new SessionSpans()));
    const callId = wordIn(event.facts, "callId");
    switch (event.kind) {
      case "turn-begun": {
        // The turn of a sub-agent is a part of the call that it works for, in another session.
        const caller = sessions.get(wordIn(event.facts, "parentSession"))?.calls.get(wordIn(event.facts, "parent"));
        spans.turn = begin(event, "invoke_agent holdfast", SPAN_KIND.internal, caller?.context ?? around);
        return;
      }
      case "request-begun": {
        const model = attributesOf(event)["gen_ai.request.model"];
        spans.request = begin(event, `chat ${String(model)}`, SPAN_KIND.client, spans.turn?.context ?? around);
        return;
      }
      case "request-over":
        end(spans.request, event);
        spans.request = undefined;
        return;
      case "call-opened": {
        const parent = spans.calls.get(wordIn(event.facts, "parent")) ?? spans.turn;
        const name = `execute_tool ${wordIn(event.facts, "tool")}`;
        spans.calls.set(callId, begin(event, name, SPAN_KIND.internal, parent?.context ?? around));
        return;
      }
      case "call-closed":
        end(spans.calls.get(callId), event);
        spans.calls.delete(callId);
        return;
      case "turn-over":
        end(spans.turn, event);
        spans.turn = undefined;
        return;
      case "session-closed":
        // Calls that wait for somebody go on in another process: their spans end here, without an end.
        for (const open of [...spans.calls.values(), spans.request, spans.turn]) open?.span.end(new Date(event.at));
        sessions.delete(event.session);
        return;
      default: {
        if (!POINTS.has(event.kind)) return;
        const where = spans.calls.get(callId) ?? spans.request ?? spans.turn;
        where?.span.addEvent(`holdfast.${event.kind}`, factsOf(event), new Date(event.at));
      }
    }
  };
}

/** What begins and ends the spans of a session. */
const SPANS: ReadonlySet<KernelEvent["kind"]> = new Set([
  "turn-begun",
  "turn-over",
  "request-begun",
  "request-over",
  "call-opened",
  "call-closed",
  "session-closed",
]);

/** Whether an event changes anything in a trace. */
export function isTraced(kind: KernelEvent["kind"]): boolean {
  return SPANS.has(kind) || POINTS.has(kind);
}

/** What somebody looking at a trace wants to see in it. */
const POINTS: ReadonlySet<KernelEvent["kind"]> = new Set([
  "history-repaired",
  "fault-raised",
  "prompt-healed",
  "context-reclaimed",
  "aside-over",
  "call-rerun",
  "checkpoint-failed",
  "upkeep-failed",
  "call-waiting",
  "call-late",
  "approval-given",
  "file-diverged",
  "effect-undone",
  "mode-changed",
  "boundary-crossed",
  "writeback-committed",
  "writeback-rejected",
  "model-failed",
  "turn-interrupted",
]);

/** What was said, where somebody asked for it. */
function addSaid(attributes: OtelAttributes, { kind, content }: KernelEvent, which: "input" | "output"): void {
  if (content === undefined) return;
  const name = kind === "call-opened" || kind === "call-closed" ? NAMES[which] : `holdfast.content.${which}`;
  attributes[name] = JSON.stringify(content);
}

const NAMES = { input: "gen_ai.tool.call.arguments", output: "gen_ai.tool.call.result" } as const;
