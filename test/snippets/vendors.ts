/** Where a block of a document imports from: this package by its name, packages of the tree, and three that are not in it. */
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const HOME = pathToFileURL(`${import.meta.dirname}/run.ts`).href;

/** What is no dependency of ours, as far as the documents use it. */
const ABSENT: Readonly<Record<string, string>> = {
  "@anthropic-ai/claude-agent-sdk": "export async function* query({ options }) { yield { type: 'result', options }; }",
  vitest: "export const test = (title, run) => globalThis.registered.push({ title, run });",
};

/** The code of the block that runs now, by its address. */
export const blocks = new Map<string, string>();

registerHooks({
  resolve(specifier, context, next) {
    if (Object.hasOwn(ABSENT, specifier)) return { url: `absent:${specifier}`, shortCircuit: true };
    if (specifier.startsWith("block:")) return { url: specifier, shortCircuit: true };
    return next(
      specifier,
      context.parentURL?.startsWith("block:") === true ? { ...context, parentURL: HOME } : context,
    );
  },
  load(url, context, next) {
    if (url.startsWith("absent:"))
      return { format: "module", source: ABSENT[url.slice("absent:".length)] ?? "", shortCircuit: true };
    const source = blocks.get(url);
    return source === undefined ? next(url, context) : { format: "module-typescript", source, shortCircuit: true };
  },
});
