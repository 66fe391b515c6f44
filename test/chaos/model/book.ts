import { EMPTY, type ModelState } from "../script/model.ts";

/** A tool boundary as the model knows it. */
export interface Page {
  readonly callId: string;
  readonly before: ModelState;
  readonly after: ModelState;
  /** How long the conversation was before and after it. */
  readonly said: { readonly before: number; readonly after: number };
}

/** A session in the plainest form: what is true, what was said, and where one can return to. */
export class Book {
  state: ModelState = EMPTY;
  conversation: readonly string[] = [];
  pages: readonly Page[] = [];
  words = 0;
  forks = 0;
  kept: { readonly state: ModelState; readonly nth: number }[] = [];

  word(): string {
    this.words += 1;
    return `w${this.words}`;
  }

  /** A call that ended, however: what it left is `after`. */
  called(callId: string, after: ModelState): void {
    const said = [...this.conversation, `call ${callId}`, `output ${callId}`];
    const spans = { before: this.conversation.length, after: said.length };
    this.pages = [...this.pages, { callId, before: this.state, after, said: spans }];
    this.conversation = said;
    this.state = after;
  }

  /** Back to a side of a call; logs stay as they are. */
  rewound({ before, after, said }: Page, side: "before" | "after", all: boolean): void {
    const { counter, table, steps, files } = side === "before" ? before : after;
    this.state = { ...this.state, counter, table, steps, files };
    if (all) this.conversation = this.conversation.slice(0, said[side]);
  }
}
