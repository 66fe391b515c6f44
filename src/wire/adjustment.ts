/** A change of form that a profile asked for. It never decides what happened; repair has done that. */
export interface Adjustment {
  readonly kind:
    | "media-replaced"
    | "media-moved"
    | "part-replaced"
    | "blank-dropped"
    | "blank-filled"
    | "end-trimmed"
    | "texts-joined"
    | "messages-joined"
    | "message-split"
    | "outputs-ordered"
    | "instructions-lifted"
    | "opening-added"
    | "continuation-added"
    | "arguments-rewritten"
    | "name-rewritten"
    | "role-rewritten"
    | "result-rewritten"
    | "signature-waived"
    | "id-aliased"
    | "item-id-dropped"
    | "text-mended"
    | "message-malformed";
  /**
   * Where: the index of the message that was read (`message-malformed`), of the one that is written (`messages-joined`,
   * `message-split`, `item-id-dropped`, `signature-waived`, `text-mended`), 0 for `id-aliased`, else of the item.
   */
  readonly at: number;
}
