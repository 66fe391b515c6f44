import { HoldfastError } from "../base/errors.ts";
import { isFields } from "../base/fields.ts";
import { checkJson, type Json, type JsonObject } from "../base/json.ts";
import {
  ABOVE_0,
  ANYTHING,
  BOOLEAN,
  checkOptions,
  either,
  FUNCTION,
  listOf,
  OBJECT,
  type OptionRule,
  oneOf,
  STANDARD_SCHEMA,
  TEXT,
} from "../base/options.ts";
import { inWords } from "../base/words.ts";
import type { StandardSchema } from "../contracts/schema.ts";
import type { ReadOnlyProof, ToolAccess, ToolActions } from "../contracts/tool-access.ts";
import { issuesText } from "../state/schema-issues.ts";
import type { Call } from "./call.ts";
import type { EffectSpec } from "./effect.ts";
import type { OutputValidator } from "./validators.ts";

/** What `defineTool` needs. `name`, `access` and `run` are required. */
export interface ToolSpec<I> {
  /**
   * A letter or `_`, then letters, digits, `_`, `.` or `-`; at most 128 characters. OpenAI's and Anthropic's models take
   * no `.`, and OpenAI's take 64 characters at most.
   */
  readonly name: string;
  /** What the tool does, in words for the model. Default: empty. */
  readonly description?: string;
  /**
   * Checks the arguments and types the handler's first parameter: any Standard Schema (zod, valibot, arktype). Without
   * one, any arguments pass as they come.
   */
  readonly input?: StandardSchema<I>;
  /**
   * JSON Schema of the arguments, shown to the model. It checks nothing. Default: what `input` says of itself, or without
   * `input` any object.
   */
  readonly inputSchema?: JsonObject;
  /** What the tool touches. It decides about plan mode, and whether a call may run again. */
  readonly access: ToolAccess;
  /** With several actions: which argument chooses, and what each touches. Plan mode offers those that read. */
  readonly actions?: ToolActions;
  /** Proves that one call changes nothing, so that it may run in plan mode: see `shellReadOnly`. */
  readonly readOnly?: ReadOnlyProof;
  /** What the tool's server says about it. Shown to people, never relied on. */
  readonly annotations?: JsonObject;
  /** Whether a call may run again when another call has changed what it read. Default: true for `read` and `write`. */
  readonly retryable?: boolean;
  /** How many milliseconds a call may take. Default: no limit. */
  readonly deadlineMs?: number;
  /** What the tool does outside, by name; run with `call.effect`. */
  readonly effects?: Readonly<Record<string, EffectSpec>>;
  /** Whether somebody must consent before a call runs. Default false. A function that throws counts as true. */
  readonly approval?: boolean | ((input: I) => boolean | Promise<boolean>);
  /** Check a result before it counts. A refused result is undone, and the tool tries again inside the same call. */
  readonly validators?: readonly OutputValidator<I>[];
  /** How often the tool may try for a result that the validators accept, 1 to 10. Default 2. */
  readonly attempts?: number;
  /**
   * The handler. It returns the result as JSON or with `toolResult`, or a failure with `call.fail`. Throwing is a
   * failure, too. A failure undoes everything the call changed.
   */
  run(input: I, call: Call): unknown;
}

/** What a call waits for before it runs: consent (`approval`), or an answer that replaces running it (`answer`). */
export type WaitsFor = "approval" | "answer";

type ParsedInput = { readonly ok: true; readonly input: unknown } | { readonly ok: false; readonly message: string };

/** A tool, as `defineTool` makes it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly access: ToolAccess;
  /** JSON Schema of the arguments, as it is offered to the model. */
  readonly inputSchema: JsonObject;
  readonly actions?: ToolActions;
  readonly readOnly?: ReadOnlyProof;
  readonly annotations?: JsonObject;
  readonly retryable: boolean;
  readonly deadlineMs?: number;
  readonly effects: Readonly<Record<string, EffectSpec>>;
  readonly validators: readonly OutputValidator[];
  readonly attempts: number;
  /** What a call with these arguments must wait for before it may run. */
  waitsFor(input: unknown): Promise<WaitsFor | undefined>;
  /** Checks the arguments. The handler never sees any that do not pass. */
  parse(input: unknown): Promise<ParsedInput>;
  run(input: unknown, call: Call): unknown;
}

/** What may be run again: a second look or a second write on a private branch harms nobody; anything outside might. */
const RETRYABLE: Readonly<Record<ToolAccess, boolean>> = { read: true, write: true, execute: false, external: false };

const MOST_ATTEMPTS = 10;
const A_NAME = "at most 128 letters, digits, `_`, `-` and `.`, and a letter or `_` first";

/** Misspelt, a tool's `approval` would be asked of nobody, and its `deadlineMs` would be none. */
const TOOL_OPTIONS: { readonly [K in keyof ToolSpec<unknown>]-?: OptionRule } = {
  name: TEXT,
  description: TEXT,
  input: { ...STANDARD_SCHEMA, wants: `${STANDARD_SCHEMA.wants}; JSON Schema is given as \`inputSchema\`` },
  inputSchema: ANYTHING, // told with why it cannot be kept
  access: oneOf(...Object.keys(RETRYABLE)),
  actions: OBJECT,
  readOnly: FUNCTION,
  annotations: OBJECT,
  retryable: BOOLEAN,
  deadlineMs: ABOVE_0,
  effects: OBJECT,
  approval: either(BOOLEAN, FUNCTION),
  validators: listOf(FUNCTION),
  attempts: ANYTHING, // told with its tool
  run: FUNCTION,
};

/** Makes a tool: a function that a model can call, run as a transaction. Throws BAD_OPTION when the spec is wrong. */
export function defineTool<I = unknown>(spec: ToolSpec<I>): Tool {
  checkOptions(spec, TOOL_OPTIONS, ["name", "access", "run"]);
  // It will be a key of kept data, and this one is none.
  if (!/^[A-Za-z_][\w.-]{0,127}$/.test(spec.name) || spec.name === "__proto__")
    throw new HoldfastError("BAD_OPTION", { option: "name", value: spec.name.slice(0, 80), wants: A_NAME });
  const { attempts = 2 } = spec;
  if (!(Number.isSafeInteger(attempts) && attempts > 0 && attempts <= MOST_ATTEMPTS))
    throw new HoldfastError("BAD_OPTION", {
      option: "attempts",
      tool: spec.name,
      value: String(attempts),
      wants: `a whole number from 1 to ${MOST_ATTEMPTS}`,
    });
  return {
    name: spec.name,
    description: spec.description ?? "",
    access: spec.access,
    inputSchema: schemaOf(spec),
    ...(spec.actions === undefined ? {} : { actions: spec.actions }),
    ...(spec.readOnly === undefined ? {} : { readOnly: spec.readOnly }),
    ...(spec.annotations === undefined ? {} : { annotations: spec.annotations }),
    retryable: spec.retryable ?? RETRYABLE[spec.access],
    ...(spec.deadlineMs === undefined ? {} : { deadlineMs: spec.deadlineMs }),
    effects: spec.effects ?? {},
    validators: (spec.validators ?? []) as readonly OutputValidator[],
    attempts,
    waitsFor: async (input) => {
      const { approval = false } = spec;
      const needed = typeof approval === "boolean" ? approval : await asks(() => approval(input as I));
      return needed ? "approval" : undefined;
    },
    parse: async (input) => {
      if (spec.input === undefined) return { ok: true, input };
      const result = await spec.input["~standard"].validate(input);
      return result.issues === undefined
        ? { ok: true, input: result.value }
        : { ok: false, message: issuesText(result.issues) };
    },
    run: (input, call) => spec.run(input as I, call),
  };
}

/** Stands in for a tool that is not there: its arguments never pass, so it ends like any other bad call. */
export function absentTool(name: string): Tool {
  return {
    name,
    description: "",
    access: "read",
    inputSchema: ANY_OBJECT,
    retryable: false,
    effects: {},
    validators: [],
    attempts: 1,
    waitsFor: async () => undefined,
    parse: async () => ({ ok: false, message: `There is no tool named ${name}.` }),
    run: (): Json => null,
  };
}

/** A question about consent that fails is a reason to ask for it, not to do without. */
async function asks(question: () => boolean | Promise<boolean>): Promise<boolean> {
  try {
    return await question();
  } catch {
    return true;
  }
}

const ANY_OBJECT: JsonObject = { type: "object" };

/**
 * What a model is told of the arguments. Many schemas can describe themselves (Standard JSON Schema). Offered as any
 * object, a tool would leave a model guessing; better to hear of it where the tool is defined.
 */
function schemaOf<I>({ name: tool, input, inputSchema }: ToolSpec<I>): JsonObject {
  if (inputSchema !== undefined) return described("inputSchema", tool, JSON_SCHEMA, () => inputSchema);
  if (input === undefined) return ANY_OBJECT;
  const { jsonSchema } = input["~standard"];
  return described("input", tool, SELF_DESCRIBED, () => jsonSchema?.input({ target: "draft-2020-12" }));
}

const JSON_SCHEMA = "JSON Schema, as plain data; a schema of zod or another library is given as `input`";
const SELF_DESCRIBED =
  "a schema that can describe itself in JSON Schema (zod from 4.2, arktype, valibot's toStandardJsonSchema), or `inputSchema` beside it";

function described(option: string, tool: string, wants: string, schema: () => unknown): JsonObject {
  const refused = (why: string, cause?: unknown) =>
    new HoldfastError("BAD_OPTION", { option, tool, value: why.slice(0, 80), wants }, { cause });
  let found: unknown;
  try {
    found = schema();
  } catch (cause) {
    throw refused(inWords(cause), cause);
  }
  const checked = checkJson(found);
  if (!checked.ok) throw refused(found === undefined ? "a schema that cannot" : checked.error.detail);
  if (!isFields(checked.value.value)) throw refused("no object");
  return checked.value.value as JsonObject;
}
