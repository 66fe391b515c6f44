import { HoldfastError } from "../../base/errors.ts";
import { nearest } from "../../base/nearest.ts";
import { bytes, durationOf, lasted, sizeOf } from "../words.ts";

/** What a setting may hold, and how it is told when it does not. */
interface Kind<T> {
  readonly wants: string;
  /** From a file, where a value has a type of its own; from a flag or the environment it is text. */
  read(value: unknown): T | undefined;
}

const text: Kind<string> = {
  wants: "a text",
  read: (value) => (typeof value === "string" && value !== "" && !value.includes("\0") ? value : undefined),
};
const path: Kind<string> = { ...text, wants: "a path" };
const yesNo: Kind<boolean> = {
  wants: "true or false",
  read: (value) =>
    value === true || value === "true" ? true : value === false || value === "false" ? false : undefined,
};
const whole: Kind<number> = {
  wants: "a whole number, 0 or more",
  read: (value) => bounded(typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
};
const size: Kind<number> = {
  wants: 'a size such as "500 MB", or bytes',
  read: (value) => bounded(typeof value === "string" ? sizeOf(value) : value),
};
const amount: Kind<number> = {
  wants: "a number, 0 or more",
  read: (value) => positive(typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value),
};
const texts: Kind<readonly string[]> = {
  wants: 'a list of texts, such as ["Short sentences."]',
  read: (value) => {
    const list = typeof value === "string" ? [value] : value;
    return Array.isArray(list) && list.every((one) => text.read(one) !== undefined) ? (list as string[]) : undefined;
  },
};
const duration: Kind<number> = {
  wants: 'a time such as "30d", "12h" or "90s"',
  read: (value) => (typeof value === "string" ? bounded(durationOf(value)) : undefined),
};

function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return { wants: words.join(" or "), read: (value) => words.find((word) => word === value) };
}

function bounded(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** One setting. `unset` stands for itself: nothing is bounded, or the kernel decides. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly about: string;
  readonly otherwise?: T;
  readonly env: string;
  readonly flag?: string;
  /** Relative to the file that says it, not to where the command is run. */
  readonly isPath?: true;
}

function setting<T>(kind: Kind<T>, env: string, about: string, more: Partial<Setting<T>> = {}): Setting<T> {
  return { kind, env: `HOLDFAST_${env}`, about, ...more };
}

type AnySetting =
  | Setting<string>
  | Setting<boolean>
  | Setting<number>
  | Setting<readonly string[]>
  | Setting<"power" | "process">
  | Setting<"failed" | "always">
  | Setting<"auto" | "overlay" | "portable">;

/** Every key of `holdfast.toml`, in the order it is shown in. A dot is a table. */
export const SETTINGS = {
  store: setting(path, "STORE", "the store file", { otherwise: ".holdfast/sessions.db", flag: "store", isPath: true }),
  workspace: setting(path, "WORKSPACE", "the folder sessions work in", {
    otherwise: ".",
    flag: "workspace",
    isPath: true,
  }),
  durability: setting<"power" | "process">(
    oneOf("power", "process"),
    "DURABILITY",
    "what an acknowledged record of a new store survives",
    {
      otherwise: "power",
    },
  ),
  model: setting(text, "MODEL", "anthropic:NAME, openai:NAME, or a server's URL#NAME", { flag: "model" }),
  window: setting(whole, "WINDOW", "the model's context window in tokens, input and output together"),
  "limits.steps": setting(whole, "LIMITS_STEPS", "at most this many answers of the model in one turn", {
    otherwise: 100,
    flag: "steps",
  }),
  "limits.tokens": setting(whole, "LIMITS_TOKENS", "at most this many tokens, read and written, in one turn", {
    flag: "tokens",
  }),
  "limits.time": setting(duration, "LIMITS_TIME", "at most this long for one turn", { flag: "time" }),
  "limits.cost": setting(amount, "LIMITS_COST", "at most this cost for one turn; needs prices"),
  "prices.input": setting(amount, "PRICES_INPUT", "price of a million input tokens"),
  "prices.output": setting(amount, "PRICES_OUTPUT", "price of a million output tokens"),
  "prices.cached": setting(amount, "PRICES_CACHED", "price of a million input tokens from the provider's cache"),
  "prices.currency": setting(text, "PRICES_CURRENCY", "the currency of the prices", { otherwise: "USD" }),
  preferences: setting(texts, "PREFERENCES", "how you like things done; a project's preferences are added to yours"),
  "exec.driver": setting<"auto" | "overlay" | "portable">(
    oneOf("auto", "overlay", "portable"),
    "EXEC_DRIVER",
    "which driver protects commands",
    { otherwise: "auto" },
  ),
  "exec.time": setting(duration, "EXEC_TIME", "at most this long for one command", { otherwise: 600_000 }),
  "context.enforce_history_invariants": setting(
    yesNo,
    "CONTEXT_ENFORCE_HISTORY_INVARIANTS",
    "refuse a request that still has faults after repair",
    { otherwise: true },
  ),
  "context.auto_recover_from_crash": setting(yesNo, "CONTEXT_AUTO_RECOVER_FROM_CRASH", "close what a crash left open", {
    otherwise: true,
  }),
  "context.warn_on_invariant_violations": setting(
    yesNo,
    "CONTEXT_WARN_ON_INVARIANT_VIOLATIONS",
    "report what was repaired",
    { otherwise: true },
  ),
  "retention.records": setting(whole, "RETENTION_RECORDS", "gc keeps at most this many records per session"),
  "retention.bytes": setting(size, "RETENTION_BYTES", "gc keeps at most this much per session"),
  "retention.age": setting(duration, "RETENTION_AGE", "gc drops records that are older"),
  "retention.grace": setting(duration, "RETENTION_GRACE", "gc leaves unreferenced content alone for this long", {
    otherwise: 3_600_000,
  }),
  "capture.folder": setting(
    path,
    "CAPTURE_FOLDER",
    "folder where `run` and `chat` write their session as a bundle when they end",
    {
      isPath: true,
    },
  ),
  "capture.when": setting<"failed" | "always">(
    oneOf("failed", "always"),
    "CAPTURE_WHEN",
    "write a bundle after failures only, or always",
    {
      otherwise: "failed",
    },
  ),
  "capture.keep": setting(whole, "CAPTURE_KEEP", "how many bundles to keep; 0 for all", { otherwise: 10 }),
} as const satisfies Record<string, AnySetting>;

export type Key = keyof typeof SETTINGS;
type ValueOf<K extends Key> = (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
export type Values = { readonly [K in Key]: ValueOf<K> | undefined };
export const KEYS: readonly Key[] = Object.keys(SETTINGS) as Key[];

/** What to say of a key that there is not, with the one that may have been meant. */
export function unknownKey(name: string, place: { readonly file?: string } = {}): HoldfastError {
  const meant = nearest(name, KEYS);
  const why = `there is no such key${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  return new HoldfastError("BAD_OPTION", { option: name, why, ...place });
}

/** A value as a file would say it. */
export function shown(key: Key, value: Values[Key]): string {
  if (value === undefined) return "(not set)";
  const { kind }: { readonly kind: unknown } = SETTINGS[key];
  if (kind === duration) return lasted(Number(value));
  if (kind === size) return bytes(Number(value));
  if (typeof value === "object") return value.map((one) => JSON.stringify(one)).join(", ");
  return String(value);
}
