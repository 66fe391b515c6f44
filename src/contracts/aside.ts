import type { Usage } from "./model.ts";

/** What somebody is given who asks a model beside the conversation: for a shorter text, for a summary. */
export interface Aside {
  readonly signal: AbortSignal;
  /** Hears what asking has used so far, as often as it is told: it is spent, also when nothing comes of it. */
  readonly used: (usage: Usage, model: string) => void;
}
