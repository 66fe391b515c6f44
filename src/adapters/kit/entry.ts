/** `holdfast/adapters/kit`: what every adapter of a model is made of, ours and yours. See docs/guides/adding-an-adapter.md. */
export type { Draft } from "../answer.ts";
export { type AnswerReader, askOnce, type Asking, onePiece } from "../ask.ts";
export { failureFrom, failureOfKind, readSdkError, type SdkError } from "../failure.ts";
export { countOf, fieldsOf, wordOf } from "../fields.ts";
export { wholeSchema, type WholeSchema, writtenOnce } from "../offers.ts";
export { mustBeSendable, type Sendable } from "../send.ts";
export { sentIn, type SentShape } from "../sent.ts";
export type { Fields } from "../../base/fields.ts";
export { asList } from "../../wire/codecs/read.ts";
