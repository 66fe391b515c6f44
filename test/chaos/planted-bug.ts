/** One change of the source that breaks a promise, and the rig that must notice. */
export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
  readonly rig: string;
  readonly args: readonly string[];
}
