import { HoldfastError } from "../base/errors.ts";
import type { WireFormat } from "./item.ts";

export type ProfileId = "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ai-sdk" | "openai-compatible";

/** What a provider demands of a request's shape, as data. Repair makes one history; this says how it must look. */
export interface WireProfile {
  readonly id: ProfileId;
  readonly format: WireFormat;
  /** Consecutive messages of one role are joined, and with them all results of a batch. */
  readonly alternates: boolean;
  /** The first message (after instructions) must be the user's. */
  readonly userFirst: boolean;
  /** The model does not continue its own text: the last message may not be the assistant's. */
  readonly userLast: boolean;
  /** Messages and text blocks without content are refused. */
  readonly refusesBlank: boolean;
  /** The last text, when it is the assistant's, may not end in white space. */
  readonly refusesTrailingSpace: boolean;
  /** The role `developer` is not known; instructions are the system's. */
  readonly refusesDeveloper: boolean;
  /** Outputs of a batch must stand in the order of the calls. */
  readonly outputsInCallOrder: boolean;
  /** What a call id may look like; one that does not fit is written under a derived alias. */
  readonly callIds: { readonly pattern: RegExp; readonly maxLength: number };
  /** What a tool's name may look like in a call; one that does not fit is written with `_` for each letter that does not. */
  readonly toolNames: { readonly pattern: RegExp; readonly maxLength: number };
  /** Whether an output can say that it failed. */
  readonly errorFlag: boolean;
  /** What the model can read besides text. */
  readonly images: boolean;
  readonly audio: boolean;
  /** What may be given by its address. The rest must be sent along, and where nobody has it, is told in words. */
  readonly byAddress: readonly ("image" | "audio" | "file")[];
  /** Media types that may stand in a result. What may not, and can be read, is shown in a message after the results. */
  readonly resultMedia: RegExp;
  /** Whether other media in a result is refused, also where it was read from one. */
  readonly refusesResultMedia: boolean;
  /** Media types that a result may show in a message after it. What may stand nowhere is told in words. */
  readonly messageMedia: RegExp;
  /** Media types that the user may bring. Others are told in words, and those that are words are shown as text. */
  readonly userMedia: RegExp;
  /** Whether others are refused, also where they were read from one; pictures of the user's then keep to `mediaBytes`. */
  readonly refusesUserMedia: boolean;
  /** Media in the assistant's messages: taken, taken where it was read from one, or always refused; then it is moved. */
  readonly assistantMedia: "taken" | "own" | "refused";
  /** Bytes that one picture or file of a result may have. A larger one would be refused in every later request. */
  readonly mediaBytes: number;
}

const WORD = /^[A-Za-z0-9_-]+$/;
const ANY = /^.+$/s;
const NONE = /(?!)/;
const MB = 1024 * 1024;
const PICTURES = /^image\/(png|jpeg|gif|webp)$/;
const PICTURES_PDF = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/;
const GEMINI_MEDIA = /^(image\/(png|jpeg|webp|heic|heif)$|(audio|video)\/|application\/pdf$)/;
const PICTURES_PDF_SOUND = /^(image\/(png|jpeg|gif|webp)|application\/pdf|audio\/(wav|x-wav|mpeg|mp3))$/;

/** Every profile, whole: a new trait breaks the build in each row until somebody has looked it up. */
export const PROFILES: Readonly<Record<ProfileId, WireProfile>> = {
  "openai-chat": {
    id: "openai-chat",
    format: "openai-chat",
    alternates: false,
    userFirst: false,
    userLast: false,
    refusesBlank: false,
    refusesTrailingSpace: false,
    refusesDeveloper: false,
    outputsInCallOrder: false,
    callIds: { pattern: ANY, maxLength: 40 },
    toolNames: { pattern: WORD, maxLength: 64 },
    errorFlag: false,
    images: true,
    audio: true,
    byAddress: ["image"],
    resultMedia: NONE,
    refusesResultMedia: true,
    messageMedia: PICTURES_PDF_SOUND,
    userMedia: PICTURES_PDF_SOUND,
    refusesUserMedia: false,
    assistantMedia: "refused",
    mediaBytes: 20 * MB,
  },
  "openai-responses": {
    id: "openai-responses",
    format: "openai-responses",
    alternates: false,
    userFirst: false,
    userLast: false,
    refusesBlank: false,
    refusesTrailingSpace: false,
    refusesDeveloper: false,
    outputsInCallOrder: false,
    callIds: { pattern: ANY, maxLength: 64 },
    toolNames: { pattern: WORD, maxLength: 64 },
    errorFlag: false,
    images: true,
    audio: true,
    byAddress: ["image", "file"],
    resultMedia: PICTURES_PDF,
    refusesResultMedia: false,
    messageMedia: PICTURES_PDF,
    userMedia: PICTURES_PDF,
    refusesUserMedia: false,
    assistantMedia: "refused",
    mediaBytes: 20 * MB,
  },
  anthropic: {
    id: "anthropic",
    format: "anthropic",
    alternates: true,
    userFirst: true,
    userLast: false,
    refusesBlank: true,
    refusesTrailingSpace: true,
    refusesDeveloper: false,
    outputsInCallOrder: false,
    callIds: { pattern: WORD, maxLength: 64 },
    toolNames: { pattern: WORD, maxLength: 128 },
    errorFlag: true,
    images: true,
    audio: false,
    byAddress: ["image", "file"],
    resultMedia: PICTURES_PDF,
    refusesResultMedia: false,
    messageMedia: PICTURES_PDF,
    userMedia: PICTURES_PDF,
    refusesUserMedia: true,
    assistantMedia: "refused",
    mediaBytes: 5 * MB,
  },
  gemini: {
    id: "gemini",
    format: "gemini",
    alternates: true,
    userFirst: true,
    userLast: true,
    refusesBlank: true,
    refusesTrailingSpace: false,
    refusesDeveloper: false,
    outputsInCallOrder: true,
    callIds: { pattern: ANY, maxLength: 128 },
    toolNames: { pattern: ANY, maxLength: 512 },
    errorFlag: true,
    images: true,
    audio: true,
    byAddress: ["image", "audio", "file"],
    resultMedia: NONE,
    refusesResultMedia: false,
    messageMedia: GEMINI_MEDIA,
    userMedia: GEMINI_MEDIA,
    refusesUserMedia: false,
    assistantMedia: "taken",
    mediaBytes: 15 * MB,
  },
  "ai-sdk": {
    id: "ai-sdk",
    format: "ai-sdk",
    alternates: false,
    userFirst: false,
    userLast: false,
    refusesBlank: false,
    refusesTrailingSpace: false,
    refusesDeveloper: false,
    outputsInCallOrder: false,
    callIds: { pattern: ANY, maxLength: 512 },
    toolNames: { pattern: ANY, maxLength: 512 },
    errorFlag: true,
    images: true,
    audio: true,
    byAddress: ["image", "audio", "file"],
    resultMedia: NONE,
    refusesResultMedia: false,
    messageMedia: PICTURES_PDF,
    userMedia: /^((image|audio|video)\/(?!svg)|application\/pdf$)/,
    refusesUserMedia: false,
    assistantMedia: "taken",
    mediaBytes: 5 * MB,
  },
  "openai-compatible": {
    id: "openai-compatible",
    format: "openai-chat",
    alternates: true,
    userFirst: false,
    userLast: false,
    refusesBlank: true,
    refusesTrailingSpace: false,
    refusesDeveloper: true,
    outputsInCallOrder: true,
    callIds: { pattern: WORD, maxLength: 40 },
    toolNames: { pattern: WORD, maxLength: 64 },
    errorFlag: false,
    images: true,
    audio: false,
    byAddress: ["image"],
    resultMedia: NONE,
    refusesResultMedia: false,
    messageMedia: PICTURES,
    userMedia: /^(image\/(?!svg)|application\/pdf$)/,
    refusesUserMedia: false,
    assistantMedia: "own",
    mediaBytes: 5 * MB,
  },
};

export type ProfileChoice = ProfileId | WireProfile;

/** A profile by name, or one of your own made from it: `{ ...PROFILES.anthropic, userLast: true }`. */
export function profileOf(choice: ProfileChoice): WireProfile {
  if (typeof choice !== "string") return choice;
  if (Object.hasOwn(PROFILES, choice)) return PROFILES[choice];
  // Only a caller without types comes here.
  throw new HoldfastError("BAD_OPTION", { option: "profile", got: String(choice), known: Object.keys(PROFILES) });
}
