import { HoldfastError } from "../base/errors.ts";
import type { CommandOption, Parsed } from "./command.ts";
import { durationOf, sizeOf } from "./words.ts";

export const STORE_OPTION: CommandOption = {
  type: "string",
  value: "FILE",
  help: "the store file (default .holdfast/sessions.db)",
};
export const WORKSPACE_OPTION: CommandOption = {
  type: "string",
  value: "DIR",
  help: "the session's working folder (default: this one)",
};
export const LIMIT_OPTION: CommandOption = { type: "string", value: "N", help: "at most this many lines; 0 for all" };

export function usage(option: string, why: string): HoldfastError {
  return new HoldfastError("BAD_OPTION", { option, why });
}

export function textOf({ values }: Parsed, option: string): string | undefined {
  const value = values[option];
  return typeof value === "string" ? value : undefined;
}

export function flagOf({ values }: Parsed, option: string): boolean {
  return values[option] === true;
}

export function wholeOf(parsed: Parsed, option: string, otherwise: number): number {
  const text = textOf(parsed, option);
  if (text === undefined) return otherwise;
  if (!/^\d{1,15}$/.test(text)) throw usage(`--${option}`, `wants a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
}

export function durationIn(parsed: Parsed, option: string): number | undefined {
  return read(parsed, option, durationOf, "a time such as 30d, 12h or 90s");
}

export function sizeIn(parsed: Parsed, option: string): number | undefined {
  return read(parsed, option, sizeOf, "a size such as 500MB, or bytes");
}

function read(parsed: Parsed, option: string, reader: (text: string) => number | undefined, wants: string) {
  const text = textOf(parsed, option);
  if (text === undefined) return undefined;
  const value = reader(text);
  if (value === undefined) throw usage(`--${option}`, `wants ${wants}, not ${JSON.stringify(text)}`);
  return value;
}

/** The one session that a command is about. */
export function sessionIn({ positionals }: Parsed): string {
  const [session, surplus] = positionals;
  if (session === undefined) throw usage("SESSION", "name a session; `holdfast sessions` lists them");
  if (surplus !== undefined) throw usage(surplus, "name one session only");
  return session;
}
