import type { Clock } from "../base/clock.ts";
import {
  AMOUNT,
  ANYTHING,
  BOOLEAN,
  either,
  FUNCTION,
  having,
  LIST,
  listOf,
  madeBy,
  OBJECT,
  type OptionRule,
  type OptionRules,
  oneOf,
  options,
  TEXT,
  whole,
} from "../base/options.ts";
import type { Random } from "../base/random.ts";
import type { IdSource } from "../base/ids.ts";
import type { Store } from "../contracts/store.ts";
import type { CodeRunner } from "../contracts/code-runner.ts";
import type { StoreSource } from "../contracts/store-source.ts";
import type { Secret, SecretOptions } from "../records/redact.ts";
import type { Marks } from "../context/derive.ts";
import { PAGE_SCOPES } from "../context/page.ts";
import type { Preference } from "../context/producers.ts";
import { EXEC_LIMIT_OPTIONS } from "../exec/command.ts";
import type { CoverLimits } from "../files/host/manifest.ts";
import type { WorkspaceOptions } from "../files/host/options.ts";
import { RETENTION_OPTIONS, type RetentionBounds } from "../journal/retention.ts";
import type { Prompt } from "../prompt/section.ts";
import type { AnyPart } from "../state/part.ts";
import type { ResourceKey } from "../state/resources.ts";
import { type AnySlice, isDefinedSlice } from "../state/slice.ts";
import type { ToolPolicy } from "../transaction/policy.ts";
import type { Tool } from "../transaction/tool.ts";
import type { TransactionOptions } from "../transaction/transactions.ts";
import type { CompactionOptions, ContextOptions } from "./context-options.ts";
import { RULE, RULE_NEEDS } from "./context-slices.ts";
import type { ProjectOptions } from "./project-rules.ts";
import { LIMITS, MODEL, REQUEST_OPTIONS, WINDOW } from "./run-options.ts";
import type { ExecSettings } from "./session-exec.ts";
import type { ForkOptions } from "./session-parts.ts";
import type { SubAgent } from "./sub-agent.ts";
import type { TelemetryOptions } from "./teller.ts";
import type { RememberOptions, WritebackOptions } from "./writeback.ts";

/** Options that apply to every session of one `Holdfast`. */
export interface SessionOptions
  extends Pick<TransactionOptions, "parallel" | "commitOrder" | "observe" | "onTelemetryFailure"> {
  /** The tools offered to the model, made with `defineTool`. Default: none. */
  readonly tools?: readonly Tool[];
  /** Sub-agents that the model can give tasks to. */
  readonly agents?: readonly SubAgent[];
  /** The slices of session state, made with `defineSlice`. */
  readonly slices?: readonly AnySlice[];
  /** Rules about which calls may run. */
  readonly policies?: readonly ToolPolicy[];
  /** Parts of the root other than slices: journalled, kept in checkpoints, rewound and forked like everything else. */
  readonly parts?: readonly AnyPart[];
  /** What every request says before the conversation, made with `definePrompt`. */
  readonly prompt?: Prompt;
  /** How much of the conversation the model sees, and what always comes before it. */
  readonly context?: ContextOptions;
  /** Who may write back, and which checks apply in addition to the built-in ones. */
  readonly writeback?: WritebackOptions;
  /** Makes the resources of a session. Called for every session that is opened or looked at. */
  readonly resources?: () => Iterable<readonly [ResourceKey<unknown>, unknown]>;
  /** Default: random ids. */
  readonly ids?: IdSource;
  /** Upper bounds on what is kept, applied when a session is opened and as it grows. Every cut leaves a record. */
  readonly retention?: RetentionBounds;
  /** Runs programs that the model writes, e.g. `quickjs()`. Setting it adds the tool `run_code`. */
  readonly code?: CodeRunner;
  /** Who receives events. */
  readonly telemetry?: TelemetryOptions;
  /** `limit`: how many tool boundaries you can go back to. Default 100. */
  readonly checkpoints?: { readonly limit?: number };
  /** Freezes every value of the state, so that a reducer which changes its input in place throws. Default false. */
  readonly development?: boolean;
  /** The folder that calls work in. Without one, files live in memory and are kept with the journal. */
  readonly workspace?: string | WorkspaceOptions;
  /** How commands run in the workspace. */
  readonly exec?: ExecSettings;
}

/** Options of `createHoldfast`. Only `store` is required. */
export interface HoldfastOptions extends SessionOptions {
  /** Where sessions are kept: an open store, or one to be opened, e.g. `sqlite("sessions.db")` or `memoryStore()`. */
  readonly store: Store | StoreSource;
  /** Default: the system's clock. */
  readonly clock?: Clock;
  /** Default: the system's randomness. */
  readonly random?: Random;
  /** Values that must never be kept, in addition to anything that looks like a secret. */
  readonly secrets?: readonly Secret[] | SecretOptions;
}

/** A share of something: above nothing, at most all of it. */
const SHARE: OptionRule = {
  wants: "a number above 0, at most 1",
  fits: (value) => typeof value === "number" && value > 0 && value <= 1,
};
/** A path is what somebody gives first. */
const STORE: OptionRule = {
  wants: 'a store, or what sqlite("…") returns',
  fits: (value) => having("open").fits(value) || having("commit").fits(value),
};
const TRUE: OptionRule = { wants: "true", fits: (value) => value === true };
const SLICE: OptionRule = {
  wants: "what defineSlice returns",
  fits: (value) => typeof value === "object" && value !== null && isDefinedSlice(value),
};
const TELEMETRY = options<TelemetryOptions>({ sinks: listOf(having("emit")), content: BOOLEAN, onFailure: FUNCTION }, [
  "sinks",
]);

const CONTEXT = options<ContextOptions>({
  window: WINDOW,
  counter: having("count"),
  compressor: having("compress"),
  patienceMs: AMOUNT,
  policy: oneOf("incremental", "reset", "oracle"),
  marks: options<Partial<Marks>>({
    high: SHARE,
    low: either(SHARE, { wants: "0", fits: (value) => value === 0 }),
    output: SHARE,
  }),
  order: oneOf("utility", "lru", "place"),
  foresight: FUNCTION,
  compaction: options<CompactionOptions>({ at: SHARE, summariser: having("summarise") }, ["at"]),
  rules: listOf(options(RULE, RULE_NEEDS), "id"),
  project: either(
    TRUE,
    options<ProjectOptions>({ instructions: listOf(TEXT), goals: listOf(TEXT), mostBytes: whole(0) }),
  ),
  preferences: listOf(options<Preference>(RULE, RULE_NEEDS), "id"),
  recall: BOOLEAN,
});

const WRITEBACK = options<WritebackOptions>({
  principals: OBJECT,
  predicates: listOf(FUNCTION),
  remember: either(TRUE, options<RememberOptions>({ scopes: listOf(oneOf(...PAGE_SCOPES)) })),
});

const EXEC = options<ExecSettings>({
  driver: oneOf("auto", "overlay", "portable"),
  limits: EXEC_LIMIT_OPTIONS,
  env: OBJECT,
  cover: options<Partial<CoverLimits>>({ file: AMOUNT, tree: AMOUNT }),
});

/** A bad bound must be refused here: later, only the model that calls the agent would hear of it. */
const AGENT_LIMITS: OptionRule = {
  ...LIMITS,
  wants: "an object, with price where there is cost",
  fits: (value) => LIMITS.fits(value) && !(Object(value).cost !== undefined && Object(value).price === undefined),
};

const AGENT = options<SubAgent>(
  {
    ...REQUEST_OPTIONS,
    name: TEXT,
    description: TEXT,
    model: MODEL,
    tools: listOf(TEXT),
    instructions: TEXT,
    limits: AGENT_LIMITS,
  },
  ["name", "description", "model"],
);

/** Bounds of the workspace are looked at where it is opened, against those that there are. */
const WORKSPACE = options<WorkspaceOptions>(
  { root: TEXT, anyRoot: BOOLEAN, limits: OBJECT, rescue: OBJECT, port: ANYTHING },
  ["root"],
);

/** The options of `createHoldfast`. If a misspelt one passed, a kernel could silently lack its tools. */
export const HOLDFAST_OPTIONS: OptionRules<HoldfastOptions> = {
  store: STORE,
  clock: having("now", "monotonic", "sleep"),
  random: having("hex", "fraction"),
  secrets: OBJECT,
  writeback: WRITEBACK,
  retention: options(RETENTION_OPTIONS),
  tools: listOf(madeBy("defineTool", "parse", "run", "waitsFor")),
  agents: listOf(AGENT),
  slices: listOf(SLICE),
  policies: listOf({ ...having("check"), wants: "a policy, with name and check" }),
  parts: listOf({ ...having("encode", "decode", "change", "apply"), wants: "a part of the state" }),
  prompt: { wants: "what definePrompt returns", fits: (value) => LIST.fits(Object(value).sections) },
  context: CONTEXT,
  resources: FUNCTION,
  ids: having("next"),
  code: having("run"),
  telemetry: TELEMETRY,
  checkpoints: options<{ readonly limit?: number }>({ limit: whole(1) }),
  development: BOOLEAN,
  workspace: either(TEXT, WORKSPACE),
  exec: EXEC,
  parallel: whole(1),
  commitOrder: oneOf("settle", "call"),
  observe: FUNCTION,
  onTelemetryFailure: FUNCTION,
};

export const FORK_OPTIONS: OptionRules<ForkOptions & { readonly after?: number }> = {
  as: TEXT,
  after: whole(0),
  workspace: TEXT,
};
