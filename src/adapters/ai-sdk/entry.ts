/** `holdfast/adapters/ai-sdk`: any language model of the AI SDK as a model. */
import { HoldfastError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { ANYTHING, BOOLEAN, badOption, checkOptions, OBJECT, type OptionRules } from "../../base/options.ts";
import type { Model } from "../../contracts/model.ts";
import { type ProfileChoice, type ProfileId, PROFILES, profileOf, type WireProfile } from "../../wire/profiles.ts";
import { askOnce } from "../ask.ts";
import { fieldsOf } from "../../base/fields.ts";
import { sentIn } from "../sent.ts";
import { failureOf } from "./errors.ts";
import { callOptions, OPTIONS_SENT, type Writing } from "./request.ts";
import { StreamReader } from "./stream.ts";
import { type AiSdkModel, KNOWN_VERSIONS } from "./vendor.ts";

/** Options of `aiSdk`. */
export interface AiSdkOptions {
  /** The profile that requests must meet. Default: chosen by the name of the model's provider. */
  readonly profile?: ProfileChoice;
  /** `false` asks for whole answers instead of streams. Default `true`. */
  readonly stream?: boolean;
  /**
   * Set it to `false` for models that do not reason: some providers refuse requests that ask for sealed reasoning.
   * Default `true`.
   */
  readonly sealedReasoning?: boolean;
  /** Further options for every request, by provider, in the SDK's own terms. They override Holdfast's. */
  readonly providerOptions?: JsonObject;
}

const OPTIONS: OptionRules<AiSdkOptions> = {
  profile: ANYTHING, // looked up by its name, and refused there
  stream: BOOLEAN,
  sealedReasoning: BOOLEAN,
  providerOptions: OBJECT,
};

/** A model that asks through a language model of the AI SDK. */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  checkOptions(options, OPTIONS);
  if (typeof model !== "object" || model === null) throw badOption("model", model, "a language model of the AI SDK");
  const { specificationVersion: version, provider, modelId } = model;
  if (!KNOWN_VERSIONS.includes(version)) {
    throw new HoldfastError("BAD_OPTION", { option: "specificationVersion", value: version, known: KNOWN_VERSIONS });
  }
  const { stream = true, sealedReasoning = true, providerOptions = {} } = options;
  const behind = providerBehind(provider);
  const profile = options.profile === undefined ? profileBehind(behind) : profileOf(options.profile);
  const own = behind === "openai-responses" ? { openai: statelessly(sealedReasoning) } : {};
  const isOpenAi = behind === "openai-responses" || behind === "openai-chat";
  const how: Writing = { profile, version, isOpenAi, ownOptions: own, providerOptions };
  return {
    name: `${provider}:${modelId}`,
    profile,
    can: { streams: stream, sealsReasoning: sealedReasoning && SEALING.includes(behind), cacheMarks: 0 },
    ask(request, { signal, inspect }) {
      const written = callOptions(request, how);
      const own = Object.fromEntries(Object.values(providerOptions).flatMap((one) => Object.entries(fieldsOf(one))));
      inspect?.(sentIn(written, OPTIONS_SENT, own));
      const open = async (abortSignal: AbortSignal) => {
        const asked = { ...written, abortSignal } as never;
        if (stream) return (await model.doStream(asked)).stream as AsyncIterable<unknown>;
        return whole(model.doGenerate(asked));
      };
      return askOnce({ request, reader: new StreamReader(), open, failureOf }, signal);
    },
  };
}

async function* whole(answer: PromiseLike<object>): AsyncGenerator<unknown, void, undefined> {
  yield { type: "whole", answer: await answer };
}

/** Which provider's demands stand behind the SDK, by how its packages name themselves. */
const BEHIND: readonly (readonly [RegExp, ProfileId])[] = [
  [/^anthropic|\.anthropic|bedrock/, "anthropic"],
  [/^(openai|azure)\.responses/, "openai-responses"],
  [/^(openai|azure)(\.|$)/, "openai-chat"],
  [/^google|vertex/, "gemini"],
];

function providerBehind(name: string): ProfileId {
  return BEHIND.find(([pattern]) => pattern.test(name))?.[1] ?? "openai-compatible";
}

/** Those whose thoughts come back sealed. */
const SEALING: readonly ProfileId[] = ["anthropic", "openai-responses", "gemini"];

/** The SDK's form, the provider's demands: what the SDK would pass on, the provider would refuse. */
function profileBehind(behind: ProfileId): WireProfile {
  const { format, id, errorFlag } = PROFILES["ai-sdk"];
  return { ...PROFILES[behind], id, format, errorFlag };
}

/**
 * Left alone, the SDK sends names of items that the provider keeps, instead of the items. What a request tells would
 * then depend on what somebody else has not deleted.
 */
function statelessly(sealedReasoning: boolean): JsonObject {
  return { store: false, ...(sealedReasoning ? { include: ["reasoning.encrypted_content"] } : {}) };
}

export type { AiSdkModel } from "./vendor.ts";
