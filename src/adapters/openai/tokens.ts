import type { TokenCounter } from "../../contracts/token-counter.ts";
import { encodingCounter, type OpenAiEncoding } from "./vendor.ts";

/**
 * A token counter that counts as OpenAI does. `of` is an encoding or the name of a model. Default `o200k_base`. Needs
 * the `gpt-tokenizer` package.
 */
export async function openaiTokens(of: OpenAiEncoding | (string & {}) = "o200k_base"): Promise<TokenCounter> {
  const encoding = encodingOf(of);
  return { name: encoding, exact: true, count: await encodingCounter(encoding) };
}

function encodingOf(name: string): OpenAiEncoding {
  if (name === "o200k_base" || name === "o200k_harmony" || name === "cl100k_base") return name;
  if (name.startsWith("gpt-oss")) return "o200k_harmony";
  return /^(gpt-4(-|$)|gpt-3\.5|text-embedding)/.test(name) ? "cl100k_base" : "o200k_base";
}
