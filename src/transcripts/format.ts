import type { Fields } from "../base/fields.ts";
import type { Json } from "../base/json.ts";
import type { CallItem, Item } from "../wire/item.ts";
import type { ProfileId } from "../wire/profiles.ts";
import type { Edit, Path } from "../base/text/edit.ts";

/** One item as a format stores it: what it is, and where in its element it and its names stand. */
export interface Piece {
  /** A skeleton: kinds, ids and names, no texts. A session of a gigabyte must fit into memory as this. */
  readonly item: Item;
  /** Where the block stands in the element; empty when the element is the item. */
  readonly path: Path;
  /** Where its call id is written, for giving it another. */
  readonly ids: readonly Path[];
  /** Where the tool's name is written on an output. */
  readonly name?: Path;
  /** The output lies inside its call: pairing is given, only the ids can be wrong. */
  readonly inside?: boolean;
}

/** What one element of a conversation says: a line of a log, a message of a list. */
export interface Reading {
  /** Counts as a message. */
  readonly message: boolean;
  /** Whose turn it takes. Elements that only carry outputs take none. */
  readonly speaks?: "user" | "assistant";
  /** Elements of one model answer share it. */
  readonly turn?: string;
  /** A side conversation kept in the same list, such as that of a sub-agent. */
  readonly strand?: string;
  readonly pieces: readonly Piece[];
  /** How many blocks the list that holds the pieces has, known ones or not. */
  readonly blocks?: number;
  readonly id?: string;
  readonly parent?: string;
  /** An earlier element with this id was written again, and this is what it became. */
  readonly replaces?: string;
  /** It names another element by its place in the file. */
  readonly position?: boolean;
  /** Calls whose consent is still awaited: at the end of a conversation they are open, not lost. */
  readonly waits?: boolean;
}

/** Where a document keeps one conversation. */
export interface Thread {
  readonly path: Path;
  /** What a provider answered to it: its calls had no chance to be answered yet. */
  readonly response?: Path;
  /** It goes on from what the provider keeps: outputs may answer calls that are not in the file. */
  readonly continues?: boolean;
}

/** Fields that make the elements of a log a tree. */
export interface Links {
  readonly id: string;
  readonly parent: string;
  /** `siblings`: outputs hang on their call's element. `chain`: every element hangs on the one before it. */
  readonly outputs: "siblings" | "chain";
  /** An id in the alphabet of the format. */
  readonly derive: (seed: string) => string;
}

export interface Wanted {
  readonly call: CallItem;
  /** The id under which the answer is written. */
  readonly callId: string;
  readonly text: string;
  /** The element that holds the call. */
  readonly element: Fields;
  /** Where in it the call stands. */
  readonly path: Path;
  readonly link?: { readonly id: string; readonly parent: string | null };
}

/** How an output is added: an element of its own, or fields inside the element of its call. */
export type Answer = { readonly element: Json } | { readonly inside: readonly Edit[] };

/** Somebody's way to keep a session. One folder each, the same three files in all of them. */
export interface Format {
  readonly id: FormatId;
  readonly title: string;
  /** Whose rules the conversation is judged by when the user does not say. */
  readonly profile: ProfileId;
  /** Conversations inside one JSON document, or inside each line of a file of documents. */
  readonly threads: (document: unknown) => readonly Thread[];
  /** Whether a line is a record of a log in this format; absent where there is no such log. */
  readonly isRecord?: (record: Fields) => boolean;
  /** A reader of one conversation, element by element. Unknown elements read as nothing and are kept as they are. */
  readonly reader: () => (element: Fields, at: number) => Reading | undefined;
  readonly answer: (wanted: Wanted) => Answer;
  readonly links?: Links;
  /** Fields that belong to an element's outputs, not to the text beside them. */
  readonly outputFields?: readonly string[];
  /** Outputs and text of one element are parted: readers of this format take the text for a turn in between. */
  readonly partsMixed?: boolean;
  /** Fields that hold the position of an element in the file, which moves when elements are added. */
  readonly positions?: readonly string[];
}

export const FORMAT_IDS = [
  "claude-code",
  "codex-rollout",
  "copilot-cli-events",
  "pi-session",
  "gemini-cli-chat",
  "opencode-export",
  "goose-recording",
  "openhands-output",
  "inspect-eval-log",
  "swe-agent",
  "ai-sdk-ui",
  "ai-sdk-model",
  "openai-agents",
  "openai-responses",
  "anthropic-messages",
  "openai-chat",
] as const;

export type FormatId = (typeof FORMAT_IDS)[number];
