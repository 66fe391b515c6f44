/**
 * A change of form that a profile required. It never changes what happened in the conversation; that is repair's job.
 */
export interface Adjustment {
  readonly kind:
    | "media-replaced"
    | "media-moved"
    | "part-replaced"
    | "thought-dropped"
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
   * Where it was made. For `message-malformed`: the index of the message that was read. For `messages-joined`,
   * `message-split`, `item-id-dropped`, `signature-waived` and `text-mended`: the index of the message that is written.
   * For `id-aliased`: 0. For all others: the index of the item.
   */
  readonly at: number;
}
