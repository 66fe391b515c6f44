import { hasCredentials, isWebAddress, withoutCredentials } from "../base/address.ts";
import { ABOVE_0, ANYTHING, BOOLEAN, OBJECT, type OptionRule, TEXT } from "../base/options.ts";

const NAME: OptionRule = { wants: "the name of a model", fits: (value) => typeof value === "string" && value !== "" };
const URL_TEXT: OptionRule = {
  wants:
    "an address that begins with http:// or https://, such as https://example.com/v1, without a user or a password: a key goes into `apiKey`, anything else into `headers`",
  // `localhost:8080/v1` parses, too: as an address of the kind `localhost:`, which nothing can ask.
  fits: (value) => typeof value === "string" && isWebAddress(value) && !hasCredentials(value),
  shown: (value) => (typeof value === "string" ? withoutCredentials(value) : value),
};

/** Options that every model of an SDK has. A misspelt `baseURL` would send the conversation, and the key, elsewhere. */
export const MODEL_OPTIONS = {
  model: NAME,
  client: OBJECT,
  profile: ANYTHING, // looked up by its name, and refused there
  stream: BOOLEAN,
  body: OBJECT,
  apiKey: TEXT,
  baseURL: URL_TEXT,
  headers: OBJECT,
  timeoutMs: ABOVE_0,
} as const;
