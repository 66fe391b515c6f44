import type { TokenCounter } from "../../contracts/token-counter.ts";
import { encodingCounter, type OpenAiEncoding } from "./vendor.ts";

/** Counts as OpenAI does. `of`: an encoding, or the name of a model. Needs the `gpt-tokenizer` package. */
export async function openaiTokens(of: OpenAiEncoding | (string & {}) = "o200k_base"): Promise<TokenCounter> {
  const encoding = encodingOf(of);
  return { name: encoding, exact: true, count: await encodingCounter(encoding) };
}

function encodingOf(name: string): OpenAiEncoding {
  if (name === "o200k_base" || name === "o200k_harmony" || name === "cl100k_base") return name;
  if (name.startsWith("gpt-oss")) return "o200k_harmony";
  return /^(gpt-4(-|$)|gpt-3\.5|text-embedding)/.test(name) ? "cl100k_base" : "o200k_base";
}
