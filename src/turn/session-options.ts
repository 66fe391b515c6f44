import { ANYTHING, BOOLEAN, LIST, OBJECT, type OptionRules, oneOf, TEXT, whole } from "../base/options.ts";
import type { CheckpointNote } from "../journal/append-options.ts";
import { OPEN_OPTIONS, type OpenOptions } from "../journal/open.ts";
import type { StoryOptions, StoryRequest } from "./story.ts";

/** Options of `session.checkpoint`. */
export interface CheckpointOptions {
  /** Writes also what has not changed, so that nothing older is needed. Default false. */
  readonly anew?: boolean;
  /** The length of conversation_history, if it was counted anew. */
  readonly history?: number;
}

/** The state itself is always the session's own: a caller cannot pass one. */
export const CHECKPOINT_NOTE: OptionRules<Pick<CheckpointNote, "tag">> = { tag: TEXT };
export const CHECKPOINT_OPTIONS: OptionRules<CheckpointOptions> = { anew: BOOLEAN, history: whole(0) };

/** Options of `session.close`. */
export interface CloseOptions {
  /** `staged`: leaves dirty changes for the next opening to commit. Default: commits them now. */
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
