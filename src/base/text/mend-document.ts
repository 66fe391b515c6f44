import { isClosing, isOpening, isTooDeep, skipSpace, stringEnd, valueEnd } from "./scan.ts";

/** A document that stops in the middle, cut back to what is whole and closed again. */
export interface MendedDocument {
  readonly text: string;
  /** What was cut off. */
  readonly fragment: string;
  /** It did not end, or something else follows it. */
  readonly torn: boolean;
}

/**
 * A torn document up to its last whole element, closed. Nothing is invented: a value that was cut is left out, never
 * completed, because half an argument is another argument.
 */
export function mendDocument(text: string): MendedDocument | undefined {
  const start = skipSpace(text, 0);
  if (!isOpening(text.charCodeAt(start)) || isTooDeep(text)) return undefined;
  const whole = valueEnd(text, start);
  if (whole !== -1) return parsed(text.slice(0, whole), text.slice(whole), text.slice(whole).trim() !== "");
  const cut = lastWhole(text, start);
  return cut === undefined ? undefined : parsed(text.slice(0, cut.at) + cut.closers, text.slice(cut.at), true);
}

interface Frame {
  readonly closer: "}" | "]";
  /** Where the last child that is a list or an object ended. */
  whole: number | undefined;
  /** That child was a list. */
  list: boolean;
}

interface Cut {
  readonly at: number;
  readonly closers: string;
}

/**
 * The end of the last whole element of the outermost array that was still open: the list the writer was in. Cutting
 * further inside would keep half a message, and with it a message that lacks what says what it is. Without such
 * a list it is the outermost object whose list had just ended: the conversation is whole, what describes it is not.
 */
function lastWhole(text: string, start: number): Cut | undefined {
  const open = framesAtEnd(text, start);
  const list = open.findIndex((frame) => frame.closer === "]" && frame.whole !== undefined);
  const at = list === -1 ? open.findIndex((frame) => frame.whole !== undefined && frame.list) : list;
  const frame = open[at];
  if (frame?.whole === undefined) return undefined;
  const closers = open.slice(0, at + 1).map(({ closer }) => closer);
  return { at: frame.whole, closers: closers.toReversed().join("") };
}

function framesAtEnd(text: string, start: number): readonly Frame[] {
  const open: Frame[] = [];
  for (let at = start; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 34) {
      const end = stringEnd(text, at);
      if (end === -1) return open;
      at = end - 1;
    } else if (isOpening(unit)) open.push({ closer: unit === 123 ? "}" : "]", whole: undefined, list: false });
    else if (isClosing(unit)) {
      open.pop();
      const parent = open.at(-1);
      if (parent === undefined) continue;
      parent.whole = at + 1;
      parent.list = unit === 93;
    }
  }
  return open;
}

function parsed(text: string, fragment: string, torn: boolean): MendedDocument | undefined {
  try {
    JSON.parse(text);
    return { text, fragment, torn };
  } catch {
    return undefined;
  }
}
