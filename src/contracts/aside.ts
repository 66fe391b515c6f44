import type { Usage } from "./model.ts";

/** What a compressor or a summariser is given for asking a model beside the conversation. */
export interface Aside {
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** Report the usage so far, as often as the model does. It counts as spent, even if nothing comes of the question. */
  readonly used: (usage: Usage, model: string) => void;
}
