import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import type { Preference } from "../../index.ts";
import type { Parsed, Terminal } from "../command.ts";
import { KEYS, type Key, SETTINGS, type Setting, unknownKey, type Values } from "./settings.ts";

const FILE_NAME = "holdfast.toml";
/** A configuration is a page of text. What is larger is some other file. */
const LARGEST = 1_000_000;

/** Where a value comes from. */
export interface Source {
  readonly from: "flag" | "environment" | "project" | "user" | "default";
  /** The flag, the variable or the file. */
  readonly place: string;
}

export interface Config {
  readonly values: Values;
  readonly sources: Readonly<Record<Key, Source>>;
  /** Files that were read, the one that counts more first. */
  readonly files: readonly string[];
  /** Of everybody who has any: here a project's do not take the place of the user's. */
  readonly preferences: readonly Preference[];
}

/** A value that was found, with the place that says it. */
interface Found {
  readonly value: unknown;
  readonly source: Source;
  /** What a relative path is relative to. */
  readonly base: string;
}

/** Flags over environment over the project's file over the user's. Whatever cannot be understood is refused, with its place. */
export async function readConfig(parsed: Pick<Parsed, "values">, terminal: Terminal): Promise<Config> {
  const { cwd, env } = terminal;
  const project = projectFile(cwd);
  const user = userFile(env);
  const layers = [flags(parsed, cwd), environment(env, cwd)];
  const files: string[] = [];
  for (const [from, file] of [
    ["project", project],
    ["user", user],
  ] as const) {
    if (file === undefined || files.includes(file)) continue;
    files.push(file);
    layers.push(await fileLayer(file, from));
  }
  const values: Record<string, unknown> = {};
  const sources: Record<string, Source> = {};
  for (const key of KEYS) {
    const found = layers.map((layer) => layer.get(key)).find((one) => one !== undefined);
    const read = found === undefined ? defaultOf(key, cwd) : checked(key, found);
    values[key] = read.value;
    sources[key] = read.source;
  }
  const preferences = layers.flatMap((layer) => preferencesIn(layer.get("preferences")));
  if (preferences.length > 0) values["preferences"] = preferences.map((one) => one.text);
  return { values: values as Values, sources: sources as Record<Key, Source>, files, preferences };
}

function preferencesIn(found: Found | undefined): readonly Preference[] {
  if (found === undefined) return [];
  const { value, source } = checked("preferences", found);
  const scope = source.from === "user" ? "user" : "project";
  const named = source.from === "environment" ? source.place : FILE_NAME;
  return (value as readonly string[]).map((text, at) => ({ id: `${scope}-${at + 1}`, text, scope, source: named }));
}

/** The file in this folder or the nearest one above it: a command works the same anywhere in a project. */
function projectFile(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, FILE_NAME);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

function userFile({ XDG_CONFIG_HOME, HOME }: Terminal["env"]): string | undefined {
  const folder = XDG_CONFIG_HOME || (HOME ? join(HOME, ".config") : undefined);
  const file = folder === undefined ? undefined : join(folder, "holdfast", FILE_NAME);
  return file !== undefined && existsSync(file) ? file : undefined;
}

type Layer = ReadonlyMap<Key, Found>;

function flags({ values }: Pick<Parsed, "values">, base: string): Layer {
  return layer((key, { flag }) => {
    const value = flag === undefined ? undefined : values[flag];
    return typeof value === "string" ? { value, source: { from: "flag", place: `--${flag}` }, base } : undefined;
  });
}

function environment(env: Terminal["env"], base: string): Layer {
  return layer((key, setting) => {
    const value = env[setting.env];
    // Set to nothing is how a variable is taken back.
    return value ? { value, source: { from: "environment", place: setting.env }, base } : undefined;
  });
}

async function fileLayer(file: string, from: "project" | "user"): Promise<Layer> {
  const flat = new Map<string, unknown>();
  for (const [name, value] of Object.entries(await tableIn(file))) {
    if (!isTable(value)) flat.set(name, value);
    else for (const [inner, one] of Object.entries(value)) flat.set(`${name}.${inner}`, one);
  }
  for (const name of flat.keys()) if (!KEYS.includes(name as Key)) throw unknownKey(name, { file });
  return layer((key) => {
    const value = flat.get(key);
    return value === undefined ? undefined : { value, source: { from, place: file }, base: dirname(file) };
  });
}

async function tableIn(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    if (statSync(file).size > LARGEST)
      throw new HoldfastError("BAD_OPTION", { option: FILE_NAME, why: "too large", file });
    return parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (HoldfastError.is(error)) throw error;
    const why =
      error instanceof TomlError
        ? `line ${error.line}, column ${error.column}: ${(error.message.split("\n")[0] ?? "").replace("Invalid TOML document: ", "")}`
        : `it cannot be read: ${String((error as NodeJS.ErrnoException).code)}`;
    throw new HoldfastError("BAD_OPTION", { option: FILE_NAME, why, file });
  }
}

function checked(key: Key, { value, source, base }: Found): { readonly value: unknown; readonly source: Source } {
  const { kind, isPath }: Setting<unknown> = SETTINGS[key];
  const read = kind.read(value);
  if (read === undefined) {
    const plain = value instanceof Date ? value.toISOString() : value;
    const got = typeof plain === "string" ? plain : (JSON.stringify(plain) ?? typeof plain);
    throw new HoldfastError("BAD_OPTION", {
      option: key,
      wants: kind.wants,
      got: got.slice(0, 80),
      from: source.place,
    });
  }
  return { value: isPath === true ? resolve(base, read as string) : read, source };
}

function defaultOf(key: Key, cwd: string): { readonly value: unknown; readonly source: Source } {
  const { otherwise, isPath }: Setting<unknown> = SETTINGS[key];
  const value = isPath === true && otherwise !== undefined ? resolve(cwd, otherwise as string) : otherwise;
  return { value, source: { from: "default", place: "" } };
}

function layer(find: (key: Key, setting: Setting<unknown>) => Found | undefined): Layer {
  const found = new Map<Key, Found>();
  for (const key of KEYS) {
    const one = find(key, SETTINGS[key]);
    if (one !== undefined) found.set(key, one);
  }
  return found;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
