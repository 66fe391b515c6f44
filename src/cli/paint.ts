import { styleText } from "node:util";
import type { Terminal } from "./command.ts";

type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";

/** A style for people, and plain text for everybody else. */
export function paint({ forPeople }: Terminal, style: Style, text: string): string {
  return forPeople && text !== "" ? styleText(style, text, { validateStream: false }) : text;
}
