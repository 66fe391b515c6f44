/** `holdfast/adapters/kit`: what every adapter of a model is made of, ours and yours. See docs/guides/adding-an-adapter.md. */
export type { Draft } from "../answer.ts";
export { type AnswerReader, askOnce, type Asking, onePiece } from "../ask.ts";
export { failureFrom, failureOfKind, readSdkError, type SdkError } from "../failure.ts";
export { countOf, wordOf } from "../fields.ts";
export { wholeSchema, type WholeSchema, writtenOnce } from "../offers.ts";
export { mustBeSendable, type Sendable } from "../send.ts";
export { sentIn, type SentShape } from "../sent.ts";
export { asList, type Fields, fieldsOf } from "../../base/fields.ts";
