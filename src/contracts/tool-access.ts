/**
 * What a tool touches. `read`: it changes nothing. `write`: it changes state or files of the session. `execute`: it
 * runs commands in the workspace. `external`: it reaches outside. Plan mode depends on it, and whether a call may run
 * again.
 */
export type ToolAccess = "read" | "write" | "execute" | "external";

/** The actions of one tool, and what each touches. */
export interface ToolActions {
  /** The argument that names the action. */
  readonly field: string;
  /** What each action touches, by its name. */
  readonly access: Readonly<Record<string, ToolAccess>>;
}

/** Judges one call by its arguments, as the handler will get them. If it throws, nothing is proved. */
export type ReadOnlyProof = (input: unknown) => ReadOnlyVerdict;

/** Whether a call is proved to change nothing; if not, why, in words for the model. */
export type ReadOnlyVerdict = { readonly readOnly: true } | { readonly readOnly: false; readonly why: string };
