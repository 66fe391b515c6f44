/** What a tool touches: plan mode and the rules for running it again read it. */
export type ToolAccess = "read" | "write" | "execute" | "external";

export interface ToolActions {
  /** The argument that names the action. */
  readonly field: string;
  readonly access: Readonly<Record<string, ToolAccess>>;
}

/** Looks at the arguments of one call, as the handler will get them. Throwing proves nothing. */
export type ReadOnlyProof = (input: unknown) => ReadOnlyVerdict;

export type ReadOnlyVerdict = { readonly readOnly: true } | { readonly readOnly: false; readonly why: string };
