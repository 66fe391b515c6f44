import { ANYTHING, BOOLEAN, LIST, OBJECT, type OptionRules, oneOf, TEXT, whole } from "../base/options.ts";
import type { CheckpointNote } from "../journal/append-options.ts";
import { OPEN_OPTIONS, type OpenOptions } from "../journal/open.ts";
import type { StoryOptions, StoryRequest } from "./story.ts";

/** What a session can be told. A misspelt option would be taken for its default without a word. */
export interface CheckpointOptions {
  /** Also what has not changed is written again, so that nothing older is needed. */
  readonly anew?: boolean;
  /** How long conversation_history is, counted anew. */
  readonly history?: number;
}

/** What is true is the state: nobody hands one in. */
export const CHECKPOINT_NOTE: OptionRules<Pick<CheckpointNote, "tag">> = { tag: TEXT };
export const CHECKPOINT_OPTIONS: OptionRules<CheckpointOptions> = { anew: BOOLEAN, history: whole(0) };

export interface CloseOptions {
  /** Lets the next opening commit what is dirty. */
  readonly leave?: "staged";
}

export const CLOSE_OPTIONS: OptionRules<CloseOptions> = { leave: oneOf("staged") };

export const ALIGN_OPTIONS: OptionRules<StoryOptions & StoryRequest> = {
  parameters: OBJECT,
  overrides: LIST,
  instructions: TEXT,
  sendMisaligned: TEXT,
  toolChoice: TEXT,
  calledTools: {
    wants: "names of tools",
    fits: (value) => typeof Object(value)[Symbol.iterator] === "function",
  },
};

export const REPLY_OPTIONS: OptionRules<{ approve?: boolean; reason?: string; answer?: unknown }> = {
  approve: ANYTHING, // told with what the call waits for
  reason: ANYTHING,
  answer: ANYTHING,
};

const { fold: _fold, written: _written, ...OPEN } = OPEN_OPTIONS;

export const OPENING_OPTIONS: OptionRules<
  Omit<OpenOptions, "fold" | "written"> & { parent?: object; recent?: number }
> = { ...OPEN, parent: OBJECT, recent: whole(0) };
