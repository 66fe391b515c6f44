/**
 * A request as a provider reads it: who speaks, which calls, which results, in which order. Read here a second time
 * and on its own, so that the judge does not share a mistake with the codec that wrote the request.
 */
export interface Turn {
  readonly at: number;
  readonly role: "system" | "user" | "assistant" | "tool" | "unknown";
  readonly blocks: readonly Block[];
  /** Its content is neither a text nor a list, where it must be one. */
  readonly formless?: boolean;
  /** In the list of its content stands something that is no part. */
  readonly loose?: boolean;
  /** Has a list of calls without a call in it. */
  readonly emptyCalls?: boolean;
  /** The id by which the provider knows it, where no two may share one. */
  readonly id?: string | undefined;
}

export type Block =
  /** `mistyped`: the type of a text that the provider does not take from who says it. */
  | { readonly is: "text"; readonly text: string; readonly mistyped?: string }
  /** `refused`: what the provider does not take in this place. `bare`: what does not say what it shows. */
  | { readonly is: "media"; readonly refused?: string; readonly bare?: string }
  | { readonly is: "thought"; readonly sealed: boolean }
  | {
      readonly is: "call";
      readonly id: string | undefined;
      readonly name: string;
      readonly space: string;
      readonly sealed: boolean;
      /** Whether the arguments have the form this format asks for. */
      readonly formed: boolean;
    }
  | {
      readonly is: "result";
      readonly id: string | undefined;
      readonly name: string | undefined;
      readonly space: string;
      /** Whether what was returned has the form this format asks for. */
      readonly formed: boolean;
      /** Holds a block of text without a word, or failed without one. */
      readonly blank?: boolean;
      /** Holds something besides text. */
      readonly media?: boolean;
      /** Holds media that is taken from nobody, of this kind. */
      readonly refused?: string;
      /** Holds a text of a type that is not a result's. */
      readonly mistyped?: string;
    }
  | { readonly is: "ask"; readonly approval: string; readonly id: string | undefined }
  | { readonly is: "consent"; readonly approval: string }
  /** Something the provider keeps and is asked to take from there. */
  | { readonly is: "reference" }
  /** What the provider made or runs itself. */
  | { readonly is: "own" };

export type CallBlock = Extract<Block, { is: "call" }>;
export type ResultBlock = Extract<Block, { is: "result" }>;

export function callsOf(turn: Turn | undefined): readonly CallBlock[] {
  return (turn?.blocks ?? []).filter((block) => block.is === "call");
}

export function resultsOf(turn: Turn | undefined): readonly ResultBlock[] {
  return (turn?.blocks ?? []).filter((block) => block.is === "result");
}
