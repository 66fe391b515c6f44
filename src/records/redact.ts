import { HoldfastError } from "../base/errors.ts";
import { changedFields } from "../base/field-differences.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { differencesOf } from "../base/list-differences.ts";
import { badOption, BOOLEAN, checkOptions, type OptionRule } from "../base/options.ts";
import { isSecretField, isSecretName } from "./secrets/assigned.ts";
import { isSecretFlag } from "./secrets/commands.ts";
import { type CookieHeader, cookieHeader } from "./secrets/cookies.ts";
import { ASSIGNED_SECRET, Mark } from "./secrets/mark.ts";
import { Rewriting } from "./secrets/rewriting.ts";
import type { Scan } from "./secrets/scan.ts";
import { KNOWN_MARKS, SecretScanner } from "./secrets/scanner.ts";
import { formsOf } from "./secrets/written-forms.ts";

/** A value that must never be kept. `name` says in its placeholder what it was; default `secret`. */
export type Secret = string | { readonly name: string; readonly value: string };

/** What to hide. */
export interface SecretOptions {
  /** Secret values. They are hidden everywhere, in every form in which they are commonly written. Default: none. */
  readonly values?: readonly Secret[];
  /** Also hides what looks like a secret. Default true. */
  readonly shapes?: boolean;
}

/**
 * Hides secrets in what is about to be kept. A value without secrets is returned as the same reference. In the place of
 * a secret stands a placeholder that names its kind; redacting again changes nothing.
 */
export class Redactor {
  readonly #scanner: SecretScanner;
  readonly #registered = new SecretScanner({ shapes: false });
  /** What stands in the place of secrets. */
  readonly #marks = new Set(KNOWN_MARKS);
  /** The last long text in which there was nothing to hide: a result is written down, and then handed to whoever asked. */
  #clean = "";

  constructor(options: readonly Secret[] | SecretOptions = {}) {
    const { values = [], shapes = true } = Array.isArray(options)
      ? { values: options as readonly Secret[] }
      : checked(options as SecretOptions);
    this.#scanner = new SecretScanner({ shapes });
    for (const secret of values) this.register(secret);
  }

  /** Hides this value from now on. What was kept before stays as it was: see `holdfast.dropSecrets`. */
  register(secret: Secret): void {
    const { name, value } = typeof secret === "string" ? { name: "secret", value: secret } : Object(secret);
    if (typeof value !== "string" || value.trim().length < SHORTEST || !value.isWellFormed())
      throw refused(
        "secret",
        `a text of at least ${SHORTEST} characters: a shorter one occurs in too many other words`,
      );
    if (typeof name !== "string" || !/^[A-Za-z][\w.-]{0,39}$/.test(name))
      throw badOption("name of a secret", name, "a short name of letters, digits, dots and dashes");
    const forms = [...formsOf(value)];
    const mark = new Mark(name);
    // It would be hidden in what stands in its place, and that again, and so on.
    if ([...this.#marks].some((known) => forms.some((form) => known.includes(form)))) throw tooCommon();
    if (this.knows(mark.text) || forms.some((form) => mark.text.includes(form))) throw tellingName();
    this.#marks.add(mark.text);
    this.#clean = "";
    for (const form of forms) {
      this.#scanner.addText(form, mark);
      this.#registered.addText(form, mark);
    }
  }

  /** The text with its secrets hidden. */
  text(text: string): string {
    return this.#hide(text);
  }

  #hide(text: string, header?: CookieHeader): string {
    if (header === undefined && text === this.#clean) return text;
    let rewriting: Rewriting | undefined;
    const hide = (found: Scan) => {
      rewriting ??= new Rewriting(found);
      rewriting.hide(found.from, found.to, found.mark);
    };
    this.#scanner.find(text, hide, header);
    if (rewriting !== undefined) return rewriting.end();
    if (header === undefined && text.length >= LONG) this.#clean = text;
    return text;
  }

  /** Whether a text contains a registered value. */
  knows(text: string): boolean {
    return findsIn(this.#registered, text);
  }

  /** Whether anything would be hidden in a text. */
  finds(text: string): boolean {
    return findsIn(this.#scanner, text);
  }

  /**
   * The value with its secrets hidden, also in keys. What it shares with `known`, a value that was redacted before, is
   * not checked again.
   */
  json<T extends Json | undefined>(value: T, known?: Json): T {
    return this.#value(value, known, undefined, NO_FIELDS) as T;
  }

  /** The value of one field, under its name, so that one called `password` is known for one. */
  field<T extends Json | undefined>(key: string, value: T): T {
    if (SEALS.has(key) && typeof value === "string") return value;
    return this.#value(value, undefined, key, NO_FIELDS) as T;
  }

  #value(
    value: Json | undefined,
    known: Json | undefined,
    key: string | undefined,
    beside: JsonObject,
  ): Json | undefined {
    if (value === known) return value;
    if (typeof value === "string") return this.#leaf(value, key, beside);
    if (Array.isArray(value)) return this.#list(value, Array.isArray(known) ? known : NO_LIST, key);
    if (typeof value === "object" && value !== null) return this.#fields(value as JsonObject, fieldsOf(known));
    return value;
  }

  #leaf(text: string, key: string | undefined, beside: JsonObject): string {
    if (text.length < SHORTEST || (key !== undefined && isOpaque(text, key, beside))) return text;
    if (key !== undefined && this.#scanner.knowsShapes && isSecretField(key, text)) {
      const told = this.text(text);
      return told === text || !isMark(told) ? ASSIGNED_SECRET.text : told;
    }
    return this.#hide(text, key === undefined ? undefined : cookieHeader(key));
  }

  #list(values: readonly Json[], known: readonly Json[], key: string | undefined): readonly Json[] {
    let copy: Json[] | undefined;
    const look = (at: number, before: Json | undefined) => {
      const value = values[at] as Json;
      const isSecret = isBehindFlag(values[at - 1], value);
      const clean = this.#value(value, isSecret ? undefined : before, isSecret ? SECRET_NAME : key, NO_FIELDS) as Json;
      if (clean === value) return;
      copy ??= values.slice();
      copy[at] = clean;
    };
    for (const { was, is } of differencesOf(known, values)) {
      const aligned = was.to - was.from === is.to - is.from;
      for (let at = is.from; at < is.to; at += 1) look(at, aligned ? known[was.from + at - is.from] : undefined);
      if (is.to < values.length) look(is.to, values[is.to]); // it stands behind something else now, maybe a flag
    }
    return copy ?? values;
  }

  #fields(fields: JsonObject, known: JsonObject): JsonObject {
    let hidden: Map<string, { readonly told: string; readonly clean: Json | undefined }> | undefined;
    for (const key of known === NO_FIELDS ? Object.keys(fields) : suspectIn(fields, known)) {
      const value = fields[key];
      const name = nameOf(key, fields);
      const clean =
        SEALS.has(key) && typeof value === "string"
          ? value
          : this.#value(value, name === key ? own(known, key) : undefined, name, fields);
      const told = key.length < SHORTEST ? key : this.text(key);
      if (clean === value && told === key) continue;
      hidden ??= new Map();
      hidden.set(key, { told, clean });
    }
    if (hidden === undefined) return fields;
    const copy: Record<string, Json | undefined> = {};
    for (const key of Object.keys(fields)) {
      const { told, clean } = hidden.get(key) ?? { told: key, clean: fields[key] };
      copy[told === key ? key : free(told, copy, fields)] = clean;
    }
    return isThought(fields) ? (unsealed(copy) as JsonObject) : copy;
  }
}

/** Fields that are new, or have a new value, and those whose name stands beside them, where it may have changed. */
function suspectIn(fields: JsonObject, known: JsonObject): readonly string[] {
  const changed = changedFields(known, fields);
  const named = Object.keys(NAMED).filter((key) => Object.hasOwn(fields, key) && !changed.includes(key));
  return named.length === 0 ? changed : [...changed, ...named];
}

const SHORTEST = 6;
const LONG = 1_000;
const NO_LIST: readonly Json[] = [];
const NO_FIELDS: JsonObject = {};

function findsIn(scanner: SecretScanner, text: string): boolean {
  let found = false;
  scanner.find(text, () => (found = true));
  return found;
}

/** Its own words are not quoted: it may be a secret all the same. */
function refused(option: string, wants: string): HoldfastError {
  return new HoldfastError("BAD_OPTION", { option, wants });
}

function tooCommon(): HoldfastError {
  return refused(
    "secret",
    "a value that is no common word: this one occurs in the placeholders that stand for secrets, and hiding it would hide " +
      "every mention of the word. Change the secret to a value that nobody can guess, or do not register it",
  );
}

function tellingName(): HoldfastError {
  return refused(
    "name of a secret",
    "a name that does not contain the value of a secret: the name is kept in the value's place. Say what it is for, not what it is",
  );
}

/** Whether something was hidden here. */
export function isMarked(text: string): boolean {
  return /\[redacted:[A-Za-z][\w.-]{0,39}\]/.test(text);
}

function isMark(text: string): boolean {
  return /^\[redacted:[A-Za-z][\w.-]{0,39}\]$/.test(text);
}

/** Seals are the provider's own: random to the eye, never a secret of the user's, and void if a letter changes. */
const SEALS: ReadonlySet<string> = new Set([
  "signature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
  "encryptedContent",
  "reasoningEncryptedContent",
]);

const THOUGHTS: ReadonlySet<Json | undefined> = new Set([
  "thinking",
  "reasoning",
  "reasoning.text",
  "reasoning.summary",
]);
/** All of one is in its data. */
const SEALED_WHOLE: ReadonlySet<Json | undefined> = new Set(["redacted_thinking", "reasoning.encrypted"]);

function isThought({ kind, type, thought }: JsonObject): boolean {
  return kind === "reasoning" || THOUGHTS.has(type) || thought === true;
}

/** A thought that lost a word no longer fits its seal, and would be refused with it: without, it is left out. */
function unsealed(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((one) => unsealed(one) as Json);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, SEALS.has(key) && typeof one === "string" ? "" : unsealed(one)]),
  );
}

/** Pictures and sealed thoughts: a letter of them that happens to look like something is nothing. */
function isOpaque(text: string, key: string, beside: JsonObject): boolean {
  if (key === "base64") return true;
  if (key === "data" && SEALED_WHOLE.has(beside["type"])) return true;
  if (key === "data" && MEDIA.some((name) => typeof beside[name] === "string")) return true;
  return text.startsWith("data:") && text.slice(0, 120).includes(";base64,");
}

const MEDIA = ["mediaType", "media_type", "mimeType", "mime_type"] as const;

function fieldsOf(known: Json | undefined): JsonObject {
  return typeof known === "object" && known !== null && !Array.isArray(known) ? (known as JsonObject) : NO_FIELDS;
}

function own(fields: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

/** What a field is called: by its key, or, where that says no more than `value`, by the name that stands beside it. */
function nameOf(key: string, fields: JsonObject): string {
  const beside = NAMED[key];
  if (beside === undefined) return key;
  for (const one of beside) {
    const name = own(fields, one);
    if (typeof name === "string" && (isSecretName(name) || cookieHeader(name) !== undefined)) return name;
  }
  return key;
}

const NAMED: Readonly<Record<string, readonly string[] | undefined>> = Object.assign(Object.create(null), {
  value: ["name", "key"],
  Value: ["Name", "Key"],
});

function isBehindFlag(before: Json | undefined, value: Json): boolean {
  return typeof before === "string" && typeof value === "string" && isSecretFlag(before, value);
}

/** What is behind a flag is taken for a field of this name. */
const SECRET_NAME = "password";

/** Two keys that were hidden stay two, and one that was hidden earlier stays itself. */
function free(name: string, ...taken: readonly object[]): string {
  for (let nth = 1; ; nth += 1) {
    const key = nth === 1 ? name : `${name} ${nth}`;
    if (!taken.some((fields) => Object.hasOwn(fields, key))) return key;
  }
}

const VALUES: OptionRule = { wants: "a list of secrets", fits: Array.isArray };

function checked(options: SecretOptions): SecretOptions {
  checkOptions(options, { values: VALUES, shapes: BOOLEAN });
  return options;
}

/** For what is kept without anybody having said what is secret. */
export const KNOWN_SHAPES: Redactor = new Redactor();
