import { checkOptions, oneOf } from "../base/options.ts";
import type { EventSink, KernelEvent } from "../contracts/event-sink.ts";

/** A logger, by its shape: pino fits, and so does `jsonLines`. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Whether lines of a level are written. Without this method, all are. */
  isLevelEnabled?(level: string): boolean;
}

type Level = Exclude<keyof Logger, "isLevelEnabled">;

/**
 * An event sink that logs one structured line for each event. Faults and failures are logged as `warn`, effects that
 * could not be undone as `error`, beginnings and other frequent events as `debug`, everything else as `info`.
 */
export function structuredLog(logger: Logger): EventSink {
  const isWritten = (level: Level) => logger.isLevelEnabled?.(level) !== false;
  return {
    // A kind that may deserve more than its usual level is looked at first.
    hears: (kind) => RAISED.has(kind) || isWritten(LEVELS.get(kind) ?? "info"),
    emit(event) {
      logger[levelOf(event)](fieldsOf(event), `holdfast ${event.kind}`);
    },
  };
}

/** Options of `jsonLines`. */
export interface JsonLinesOptions {
  /** The lowest level that is written. Default `info`, which leaves out what happens all the time. */
  readonly level?: Level;
}

/** A logger that writes one line of JSON for each entry, for example to a file or to standard error. */
export function jsonLines(write: (line: string) => void, options: JsonLinesOptions = {}): Logger {
  checkOptions(options, { level: oneOf(...LADDER) });
  const { level: least = "info" } = options;
  const enabled: ReadonlySet<string> = new Set(LADDER.slice(LADDER.indexOf(least)));
  const isLevelEnabled = (level: string) => enabled.has(level);
  const at = (level: Level) => (fields: object, message: string) => {
    if (!enabled.has(level)) return;
    const rest = JSON.stringify(fields).slice(1);
    write(`{"level":"${level}","message":${JSON.stringify(message)}${rest === "}" ? "" : ","}${rest}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), isLevelEnabled };
}

/**
 * What somebody should look at. Everything else is information: one line for each call, request and turn, when it is over.
 * That it began, and what happens all the time, is for debugging.
 */
const LEVELS: ReadonlyMap<string, Level> = new Map([
  ["fault-raised", "warn"],
  ["history-repaired", "warn"],
  ["session-recovered", "warn"],
  ["prompt-healed", "warn"],
  ["model-failed", "warn"],
  ["file-diverged", "warn"],
  ["call-late", "warn"],
  ["checkpoint-failed", "warn"],
  ["upkeep-failed", "warn"],
  ["writeback-rejected", "warn"],
  ["state-changed", "debug"],
  ["checkpoint-kept", "debug"],
  ["view-chosen", "debug"],
  ["turn-begun", "debug"],
  ["request-begun", "debug"],
  ["call-opened", "debug"],
]);

const LADDER: readonly Level[] = ["debug", "info", "warn", "error"];

/** Those whose level says how it ended. */
const RAISED: ReadonlySet<KernelEvent["kind"]> = new Set(["effect-undone", "call-closed", "turn-over"]);

function levelOf({ kind, facts }: KernelEvent): Level {
  if (kind === "effect-undone" && facts["how"] === "not-undone") return "error";
  if (kind === "call-closed" && facts["status"] !== "success") return "warn";
  if (kind === "turn-over" && facts["status"] !== "done" && facts["status"] !== "waiting") return "warn";
  return LEVELS.get(kind) ?? "info";
}

/** A fact that is called like a field of the line would replace it. */
function fieldsOf({ kind, source, nth, session, at, seq, facts, content }: KernelEvent): object {
  const fields: Record<string, unknown> = { event: kind, source, nth, session, at };
  if (seq !== undefined) fields["seq"] = seq;
  if (content !== undefined) fields["content"] = content;
  for (const name of Object.keys(facts)) {
    if (OWN.has(name)) continue;
    if (name !== "__proto__") fields[name] = facts[name];
    else Object.defineProperty(fields, name, { value: facts[name], enumerable: true }); // assigned, it would be no field
  }
  return fields;
}

const OWN: ReadonlySet<string> = new Set([
  "level",
  "message",
  "event",
  "source",
  "nth",
  "session",
  "at",
  "seq",
  "content",
]);
