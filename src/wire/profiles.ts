import { HoldfastError } from "../base/errors.ts";
import type { WireFormat } from "./item.ts";

/** The providers whose demands are known. */
export type ProfileId = "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ai-sdk" | "openai-compatible";

/**
 * What a provider demands of the form of a request, as data. Repair makes one history; a profile says how it must be
 * written.
 */
export interface WireProfile {
  readonly id: ProfileId;
  readonly format: WireFormat;
  /** Consecutive messages of one role are joined into one, and so are all results of a batch. */
  readonly alternates: boolean;
  /** The first message after the instructions must be the user's. */
  readonly userFirst: boolean;
  /** The last message must not be the assistant's, because the model does not continue its own text. */
  readonly userLast: boolean;
  /** Messages and text blocks without content are refused. */
  readonly refusesBlank: boolean;
  /** A final text of the assistant must not end in white space. */
  readonly refusesTrailingSpace: boolean;
  /** The role `developer` is unknown; instructions are sent as `system`. */
  readonly refusesDeveloper: boolean;
  /** The outputs of a batch must be in the order of their calls. */
  readonly outputsInCallOrder: boolean;
  /** What a call id may look like. An id that does not fit is replaced by an alias derived from it. */
  readonly callIds: { readonly pattern: RegExp; readonly maxLength: number };
  /**
   * What a tool name may look like. In a call, each character of it that is not allowed becomes `_`; a tool that is
   * offered under such a name is refused.
   */
  readonly toolNames: { readonly pattern: RegExp; readonly maxLength: number };
  /** Whether an output can be marked as failed. */
  readonly errorFlag: boolean;
  /** Whether the model reads pictures (`images`) and recordings (`audio`). */
  readonly images: boolean;
  readonly audio: boolean;
  /**
   * Media that may be given by URL. All other media must be sent inline; if the content is not at hand, it is described
   * in words.
   */
  readonly byAddress: readonly ("image" | "audio" | "file")[];
  /**
   * Media types that a result may hold. Others that the provider reads elsewhere are shown in a message after the
   * results.
   */
  readonly resultMedia: RegExp;
  /** Whether other media in a result is refused even if it was read from a result in this format. */
  readonly refusesResultMedia: boolean;
  /** Media types of a result that may be shown in a message after it. Media that fits nowhere is described in words. */
  readonly messageMedia: RegExp;
  /** Media types that the user may send. Others are described in words, and files of a text type are shown as text. */
  readonly userMedia: RegExp;
  /**
   * Whether other types are refused even if they were read from a message in this format. Pictures of the user are then
   * also limited to `mediaBytes`.
   */
  readonly refusesUserMedia: boolean;
  /**
   * Media in messages of the assistant. `taken`: accepted. `own`: accepted if it was read from a message in this
   * format. `refused`: never accepted. Media that is not accepted is moved to another message.
   */
  readonly assistantMedia: "taken" | "own" | "refused";
  /**
   * The most bytes that one picture or file of a result may have. A larger one would be refused in every later request.
   */
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

/** All profiles, each complete: a new trait breaks the build in every row until somebody has looked it up. */
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

/** A known profile by name, or one of your own. */
export type ProfileChoice = ProfileId | WireProfile;

/** Looks up a profile by name, or takes one of your own: `{ ...PROFILES.anthropic, userLast: true }`. */
export function profileOf(choice: ProfileChoice): WireProfile {
  if (typeof choice !== "string") return choice;
  if (Object.hasOwn(PROFILES, choice)) return PROFILES[choice];
  // Only a caller without types comes here.
  throw new HoldfastError("BAD_OPTION", { option: "profile", got: String(choice), known: Object.keys(PROFILES) });
}
