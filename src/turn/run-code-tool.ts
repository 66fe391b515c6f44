import type { Json } from "../base/json.ts";
import type { CodeAnswer, CodeHost, CodeQuestion, CodeRunner } from "../contracts/code-runner.ts";
import type { SchemaResult } from "../contracts/schema.ts";
import type { CallRecord } from "../history/call-record.ts";
import { CallRecords } from "../history/call-records.ts";
import type { Journal } from "../journal/journal.ts";
import { checkedBy } from "../transaction/checked-by.ts";
import type { Call } from "../transaction/call.ts";
import { defineTool, type Tool } from "../transaction/tool.ts";

/** The name of the tool, and what it may not call: itself. */
const RUN_CODE = "run_code";

/** What may run inside a program: what stays on its branch and is undone with it. */
const INSIDE: ReadonlySet<Tool["access"]> = new Set(["read", "write"]);

interface Program {
  readonly code: string;
}

/** What a session gives to its programs. */
export interface CodeWorld {
  readonly runner: CodeRunner;
  readonly history: SessionHistory;
  /** Every tool of the session, as it is now. */
  readonly tools: () => readonly Tool[];
}

/**
 * Lets a model answer questions about the session, and do many steps at once, by a program: it reads the records of all
 * calls as an array, and calls tools that are undone with it when it throws or meets a limit.
 */
export function runCodeTool(world: CodeWorld): Tool {
  return defineTool<Program>({
    name: RUN_CODE,
    description:
      "Run a JavaScript program: the body of a function, ended by `return` with JSON. " +
      "`context.conversation_history` is a read-only array with one record for each earlier call and user message, oldest first " +
      "(call_id, timestamp, speaker, method_name, args, kwargs, outcome_summary); filter, map and slice it directly, and do not rely on optional fields. " +
      "`context.content(record.outcome_summary.value)` is what a call returned. `tools.NAME(input)` calls a tool and returns its result, or throws. " +
      "There is no network, no timer and no await. If the program throws, everything it did is undone.",
    access: "write",
    input: checkedBy(validate),
    inputSchema: {
      type: "object",
      properties: { code: { type: "string", description: "The program." } },
      required: ["code"],
    },
    async run({ code }, call) {
      const records = await world.history.upToNow();
      const result = await world.runner.run(code, hostFor(world, records, call), call.signal);
      const seen = { history: { size: records.length, read: result.recordsRead }, log: result.log };
      if (result.ok) return { result: result.value, ...seen } as Json;
      return call.fail(`program-${result.fault}`, result.message, seen as Json);
    },
  });
}

function hostFor({ history, tools }: CodeWorld, records: readonly CallRecord[], call: Call): CodeHost {
  const offered = tools().filter(({ name, access }) => INSIDE.has(access) && name !== RUN_CODE);
  const names = new Set(offered.map(({ name }) => name));
  return {
    now: call.clock.now(),
    seed: call.random.hex(16),
    records: records.length,
    tools: [...names],
    answer: async (question: CodeQuestion): Promise<CodeAnswer> => {
      switch (question.kind) {
        case "records":
          return { ok: true, value: records.slice(question.from, question.to) as unknown as Json };
        case "content":
          return { ok: true, value: await history.content(question.seq) };
        case "tool":
          return names.has(question.name) ? toolAnswer(call, question) : { ok: false, message: refusal(question.name) };
        default:
          return { ok: false, message: "no such question" };
      }
    },
  };
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
  return `${name} cannot be called from a program: it is not there, or what it does could not be undone.`;
}

/** The records of a session's calls, kept up to date by reading on. */
export class SessionHistory {
  readonly #journal: Pick<Journal, "read" | "head">;
  readonly #records = new CallRecords();
  #next = 1;

  constructor(journal: Pick<Journal, "read" | "head">) {
    this.#journal = journal;
  }

  /** As of now: calls that are still open are not in it. */
  async upToNow(): Promise<readonly CallRecord[]> {
    const to = this.#journal.head.seq;
    if (this.#next > to) return this.#records.all;
    for await (const entry of this.#journal.read({ from: this.#next, to })) {
      this.#next = Math.max(this.#next, (entry.kind === "damaged" ? entry.through : entry.seq) + 1);
      if (entry.kind !== "damaged") this.#records.take(entry);
    }
    return this.#records.all;
  }

  /** What a call returned, or why that cannot be told: never an empty answer. */
  async content(seq: number): Promise<Json> {
    const there = Number.isSafeInteger(seq) && seq > 0 && seq <= this.#journal.head.seq;
    for await (const entry of there ? this.#journal.read({ from: seq, to: seq }) : []) {
      if (entry.kind === "call-closed")
        return { ok: true, value: entry.output ?? (entry.parts as Json | undefined) ?? null };
      if (entry.kind === "dropped") return { ok: false, code: "dropped", message: entry.reason };
      if (entry.kind === "damaged") return { ok: false, code: "corrupt", message: entry.detail };
    }
    return { ok: false, code: "no-match", message: `Record ${seq} is of no call that ended.` };
  }
}

function validate(value: unknown): SchemaResult<Program> {
  const { code } = (value ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? { value: { code } } : { issues: [{ message: "must be a text", path: ["code"] }] };
}
