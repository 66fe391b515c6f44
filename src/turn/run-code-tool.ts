import { sha256 } from "../base/hash.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { CodeAnswer, CodeHost, CodeQuestion, CodeResult, CodeRunner } from "../contracts/code-runner.ts";
import type { SchemaResult } from "../contracts/schema.ts";
import type { CallRecord } from "../history/call-record.ts";
import type { AnyPart, Part } from "../state/part.ts";
import type { Call } from "../transaction/call.ts";
import { checkedBy, wrong } from "../transaction/checked-by.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";
import { findProgram, type FoundProgram, isProgramName, Programs, sourceOf } from "./programs.ts";
import { RUN_CODE, type SessionHistory } from "./session-history.ts";

/** What may run inside a program: what stays on its branch and is undone with it. */
const INSIDE: ReadonlySet<Tool["access"]> = new Set(["read", "write"]);

/** Code, a name to keep it under, or a name alone: one of the first and the last is there. */
interface Asked {
  readonly code?: string;
  readonly name?: string;
  readonly input?: Json;
}

/** What a session gives to its programs. */
export interface CodeWorld {
  readonly runner: CodeRunner;
  readonly history: SessionHistory;
  /** Every tool of the session, as it is now. */
  readonly tools: () => readonly Tool[];
  /** Slices that a program may read. */
  readonly slices: readonly AnyPart[];
}

/**
 * Lets a model answer questions about the session, and do many steps at once, by a program: it reads the records of all
 * calls as an array, and calls tools that are undone with it when it throws or meets a limit. A program that was given a
 * name can be run again by it.
 */
export function runCodeTool(world: CodeWorld): Tool {
  return defineTool<Asked>({
    name: RUN_CODE,
    description:
      "Run a JavaScript program: the body of a function, ended by `return` with JSON. " +
      "`context.conversation_history` is a read-only array with one record for each earlier call and user message, oldest first " +
      "(call_id, timestamp, speaker, method_name, args, kwargs, outcome_summary); filter, map and slice it directly, and do not rely on optional fields. " +
      "`context.content(record.outcome_summary.value)` is what a call returned. `context.slices.NAME` is a part of the session's state. " +
      "`tools.NAME(input)` calls a tool and returns its result, or throws. " +
      "There is no network, no timer and no await. If the program throws, everything it did is undone. " +
      "With a name the program is kept, and `name` alone, with another `input` if need be, runs it again.",
    access: "write",
    input: checkedBy(validate),
    inputSchema: {
      type: "object",
      properties: {
        code: { type: "string", description: "The program." },
        name: {
          type: "string",
          description:
            "With code: the name to keep it under. Alone: the program to run again, by name or program_source.",
        },
        input: { description: "Any JSON: the program reads it as `input`." },
      },
    },
    async run(asked, call) {
      const { size } = await world.history.upToNow();
      const found = await programOf(asked, call, world.history);
      if (!found.ok) return call.fail(found.fault, found.message);
      call.note({ program_source: sourceOf(found.code), artifact_hit: found.hit });
      const result = await world.runner.run(found.code, hostFor(world, size, asked.input ?? null, call), call.signal);
      call.note(signalsOf(result));
      const seen = { history: { size, read: result.recordsRead }, log: result.log };
      if (!result.ok) return call.fail(`program-${result.fault}`, result.message, seen as Json);
      if (asked.code !== undefined && asked.name !== undefined)
        call.dispatch(Programs.kept({ name: asked.name, digest: sha256(asked.code), code: asked.code }));
      return { result: result.value, ...seen } as Json;
    },
  });
}

async function programOf({ code, name = "" }: Asked, call: Call, history: SessionHistory): Promise<FoundProgram> {
  return code === undefined ? findProgram(name, call, history) : { ok: true, code, hit: false };
}

/** What the program's text says it reads, and beside it what it did read. */
function signalsOf({ historyUse, recordsRead }: CodeResult): JsonObject {
  return {
    history_access_detected: historyUse.detected,
    history_query_patterns: historyUse.patterns,
    history_detected_by: historyUse.by,
    history_records_read: recordsRead,
  };
}

function hostFor({ history, tools, slices }: CodeWorld, records: number, input: Json, call: Call): CodeHost {
  const offered = tools().filter(({ name, access }) => INSIDE.has(access) && name !== RUN_CODE);
  const names = new Set(offered.map(({ name }) => name));
  const parts = new Map(slices.map((part) => [part.name, part]));
  return {
    now: call.clock.now(),
    seed: call.random.hex(16),
    records,
    tools: [...names],
    slices: [...parts.keys()],
    input,
    answer: async (question: CodeQuestion): Promise<CodeAnswer> => {
      switch (question.kind) {
        case "records":
          return { ok: true, value: await block(history, question.from, question.to) };
        case "content":
          return { ok: true, value: await history.content(question.seq) };
        case "program":
          return { ok: true, value: await sourceIn(call, history, question.source) };
        case "slice":
          return sliceAnswer(call, parts.get(question.name), question.name);
        case "tool":
          return names.has(question.name) ? toolAnswer(call, question) : { ok: false, message: refusal(question.name) };
        default:
          return { ok: false, message: "no such question" };
      }
    },
  };
}

/** Characters of one block: a program holds a few, and what they take must not depend on what somebody called with. */
const BLOCK = 256 * 1024;
/** Records that are read first; then twice as many each time, as long as there is room: large ones are not read in vain. */
const FIRST = 4;

async function block(history: SessionHistory, from: number, to: number): Promise<Json> {
  const records: CallRecord[] = [];
  let left = BLOCK;
  for (let [at, step] = [from, FIRST]; at < to; at += step, step *= 2)
    for (const record of await history.records(at, Math.min(at + step, to))) {
      left -= JSON.stringify(record).length;
      if (left < 0 && records.length > 0) return records as unknown as Json;
      records.push(record);
    }
  return records as unknown as Json;
}

/** As the call sees it: what the program's own tools have changed is in it. */
function sliceAnswer(call: Call, part: AnyPart | undefined, name: string): CodeAnswer {
  if (part === undefined) return { ok: false, message: `There is no slice ${name}.` };
  return { ok: true, value: part.encode(call.read(part as Part<unknown>) as never) };
}

async function sourceIn(call: Call, history: SessionHistory, source: string): Promise<Json> {
  const found = await findProgram(source, call, history);
  return found.ok ? { ok: true, value: found.code } : { ok: false, code: "no-match", message: found.message };
}

async function toolAnswer(
  call: Call,
  { name, input }: { readonly name: string; readonly input: Json },
): Promise<CodeAnswer> {
  const { ok, output } = await call.run({ name, input });
  if (ok) return { ok, value: output };
  return { ok, message: typeof output === "string" ? output : JSON.stringify(output) };
}

function refusal(name: string): string {
  return `${name} cannot be called from a program: it does not exist, or what it does could not be undone.`;
}

function validate(value: unknown): SchemaResult<Asked> {
  const { code, name, input } = (value ?? {}) as {
    readonly code?: unknown;
    readonly name?: unknown;
    readonly input?: Json;
  };
  if (code !== undefined && typeof code !== "string") return wrong("code", "must be a string");
  if (name !== undefined && typeof name !== "string") return wrong("name", "must be a string");
  if (code === undefined && name === undefined) return wrong("code", "must be a string, unless a name is given");
  if (code !== undefined && name !== undefined && !isProgramName(name))
    return wrong("name", "must begin with a letter and have letters, digits, dots, dashes and underscores, 64 at most");
  if (code !== undefined && name !== undefined && code.length > LONGEST_KEPT)
    return wrong("code", `must have ${LONGEST_KEPT} characters at most to be kept under a name`);
  return {
    value: {
      ...(code === undefined ? {} : { code }),
      ...(name === undefined ? {} : { name }),
      ...(input === undefined ? {} : { input }),
    },
  };
}

/** Characters: what is kept under a name is part of every checkpoint. */
const LONGEST_KEPT = 64 * 1024;
