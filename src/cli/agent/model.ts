import { hasCredentials } from "../../base/address.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Model } from "../../index.ts";
import type { Terminal } from "../command.ts";
import { nearest } from "../../base/nearest.ts";

const PROVIDERS = { anthropic: anthropicModel, openai: openaiModel } as const;
type Provider = keyof typeof PROVIDERS;
const FORMS = "anthropic:NAME, openai:NAME or URL#NAME";

/** `anthropic:NAME`, `openai:NAME`, or the address of a server that speaks OpenAI's chat, with the model behind a `#`. */
export function modelOf(given: string | undefined, env: Terminal["env"]): Promise<Model> {
  if (given === undefined) throw bad(`name one: --model ${FORMS}, or set \`model\` in holdfast.toml`);
  if (/^https?:\/\//.test(given)) return compatibleModel(given, env);
  const at = given.includes(":") ? given.indexOf(":") : given.length;
  const [provider, name] = [given.slice(0, at), given.slice(at + 1)];
  const isKnown = Object.hasOwn(PROVIDERS, provider);
  if (isKnown && name !== "") return PROVIDERS[provider as Provider](name, env);
  if (isKnown) throw bad(`which model? ${provider}:NAME`);
  const meant = nearest(provider, Object.keys(PROVIDERS));
  throw bad(
    `${given} is no model; ${meant === undefined ? `name it as ${FORMS}` : `did you mean ${meant}:${name || "NAME"}?`}`,
  );
}

/** Keys are looked for here, so that a missing one is told before anything is written. */
async function anthropicModel(
  model: string,
  { ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL }: Terminal["env"],
): Promise<Model> {
  const { anthropic } = await import("../../adapters/anthropic/entry.ts");
  return anthropic({ model, ...connection("ANTHROPIC_API_KEY", ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL) });
}

async function openaiModel(model: string, { OPENAI_API_KEY, OPENAI_BASE_URL }: Terminal["env"]): Promise<Model> {
  const { openai } = await import("../../adapters/openai/entry.ts");
  return openai({ model, ...connection("OPENAI_API_KEY", OPENAI_API_KEY, OPENAI_BASE_URL) });
}

/** Servers on one's own machine often want no key; the SDK wants one all the same. */
async function compatibleModel(given: string, { OPENAI_API_KEY = "none" }: Terminal["env"]): Promise<Model> {
  const { openaiCompatible } = await import("../../adapters/openai/entry.ts");
  const [baseURL = "", model = ""] = given.split("#");
  if (hasCredentials(baseURL))
    throw bad(
      "an address with a user or a password cannot be asked; leave them out, and put the key into OPENAI_API_KEY",
    );
  if (model === "") throw bad(`which model? ${given}#NAME`);
  return openaiCompatible({ baseURL, model, apiKey: OPENAI_API_KEY });
}

function connection(name: string, apiKey: string | undefined, baseURL: string | undefined) {
  if (!apiKey) throw bad(`${name} is not set; the key of your account belongs there`);
  return { apiKey, ...(baseURL ? { baseURL } : {}) };
}

function bad(why: string): HoldfastError {
  return new HoldfastError("BAD_OPTION", { option: "--model", why });
}
