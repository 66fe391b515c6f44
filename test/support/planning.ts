import { createAnthropic } from "@ai-sdk/anthropic";
import { expect, test } from "vitest";
import { aiSdk } from "../../src/adapters/ai-sdk/entry.ts";
import { shellReadOnly } from "../../src/catalog/shell.ts";
import type { Model, ModelRequest } from "../../src/contracts/model.ts";
import type { Script } from "../../src/records/script.ts";
import { startProviderServer } from "../../src/testing/provider-server/server.ts";
import type { Call } from "../../src/transaction/call.ts";
import type { CallOutcome } from "../../src/transaction/outcome.ts";
import { defineTool, type ToolSpec } from "../../src/transaction/tool.ts";
import type { Holdfast } from "../../src/turn/holdfast.ts";
import type { SessionOptions } from "../../src/turn/holdfast-options.ts";
import type { RunOptions } from "../../src/turn/run-options.ts";
import type { Session } from "../../src/turn/session.ts";
import { opened } from "./durable.ts";
import { WAYS, watch, type Watched } from "./loop.ts";
import type { MemoryDisk } from "./stores.ts";

/** A session with one tool of every sort, and a model behind one of the adapters. */
export interface Stage {
  readonly session: Session;
  readonly holdfast: Holdfast;
  readonly disk: MemoryDisk;
  /** Names of the handlers that ran, in order. */
  readonly ran: string[];
  /** Every request that was written for the model. */
  readonly requests: ModelRequest[];
  readonly tool: (spec: Partial<ToolSpec<Arguments>> & { readonly name: string }) => ReturnType<typeof defineTool>;
  /** One turn in which the model says this. `wrap` stands between the loop and the model. */
  readonly turn: (
    script: Script,
    how?: Partial<RunOptions> & { readonly wrap?: (model: Model) => Model },
  ) => Promise<Watched>;
  readonly files: () => Promise<readonly string[]>;
}

interface Arguments {
  readonly path?: string;
  readonly command?: string;
  readonly action?: string;
}

const AI_SDK: typeof WAYS = {
  "ai sdk": (url) => aiSdk(createAnthropic({ apiKey: "k", baseURL: `${url}/v1` })("m")),
};

const path = { type: "object", properties: { path: { type: "string" } } };

/** A story about plan mode, told once through every adapter. */
export function inEveryWay(title: string, story: (stage: Stage) => Promise<void>, options: SessionOptions = {}): void {
  for (const [way, modelAt] of Object.entries({ ...WAYS, ...AI_SDK }))
    test(`${title} (${way})`, async () => {
      const ran: string[] = [];
      const requests: ModelRequest[] = [];
      const tool: Stage["tool"] = (spec) =>
        defineTool<Arguments>({
          access: "write",
          inputSchema: path,
          ...spec,
          run: (input, call) => {
            ran.push(spec.name);
            return spec.run === undefined ? writing(input, call) : spec.run(input, call);
          },
        });
      const brought = options.tools ?? [];
      const usual = TOOLS.filter(({ name }) => !brought.some((one) => one.name === name));
      const tools = [...usual.map(tool), ...brought];
      const { session, holdfast, disk } = await opened(undefined, { ...options, tools });
      const turn: Stage["turn"] = async (script, { wrap = (model: Model) => model, ...how } = {}) => {
        const server = await startProviderServer({ script });
        try {
          const model = wrap(seen(modelAt(server.url, script), requests));
          return await watch(session.run("go", { ...how, model }));
        } finally {
          await server.close();
        }
      };
      const files = async () => (await session.files.list()).map(({ name }) => name);
      try {
        await story({ session, holdfast, disk, ran, requests, tool, turn, files });
      } finally {
        await session.close();
      }
    });
}

export function outcomes({ events }: Watched): readonly CallOutcome[] {
  return events.flatMap((event) => (event.kind === "call-closed" ? [event.outcome] : []));
}

/** What became of a call that was not let through: an ordinary closing with words for the model. */
export function expectDenied(outcome: CallOutcome | undefined, words: RegExp = /^Plan mode is on/): void {
  expect(outcome).toMatchObject({ ok: false, status: "failed", reason: "denied" });
  expect(outcome?.output).toMatch(words);
}

/** Waits before the answer ends: the calls in it have not been seen by anybody yet. */
export function beforeTheEnd(model: Model, work: () => Promise<unknown>): Model {
  return {
    ...model,
    async *ask(request, options) {
      for await (const event of model.ask(request, options)) {
        if (event.kind === "end") await work();
        yield event;
      }
    },
  };
}

const TOOLS: readonly (Partial<ToolSpec<Arguments>> & { readonly name: string })[] = [
  { name: "look", access: "read", run: () => "seen" },
  { name: "edit_file" },
  { name: "shell", access: "execute", readOnly: shellReadOnly(), run: ({ command }) => `ran ${command ?? ""}` },
  {
    name: "mcp_store",
    access: "external",
    annotations: { readOnlyHint: true, destructiveHint: false },
    run: () => "stored",
  },
  {
    name: "unified_file",
    actions: { field: "action", access: { read: "read", write: "write" } },
    inputSchema: { type: "object", properties: { action: { enum: ["read", "write"] }, path: { type: "string" } } },
    run: (input, call) => (input.action === "read" ? "read" : writing(input, call)),
  },
];

async function writing(input: Arguments, call: Call): Promise<string> {
  await call.files.writeText(input.path ?? "leaked.txt", "leaked");
  return "written";
}

function seen(model: Model, requests: ModelRequest[]): Model {
  return {
    ...model,
    ask: (request, options) => {
      requests.push(request);
      return model.ask(request, options);
    },
  };
}
