import { anthropic } from "../../adapters/anthropic/entry.ts";
import { createHoldfast, defineTool, type Holdfast, type Model, type Tool } from "../../index.ts";
import { sqlite } from "../../stores/sqlite/entry.ts";
import { type ProviderServer, startProviderServer } from "../../testing/entry.ts";
import { answerTo } from "./demo-script.ts";

/** A kernel over a real store, and a model behind a provider that refuses what real ones refuse. */
export interface Stage extends AsyncDisposable {
  readonly holdfast: Holdfast;
  readonly model: Model;
  readonly provider: ProviderServer;
}

/** `life`: the second process must not give out the ids of the first again. `slow`: how long the tests take. */
export async function setStage(store: string, life: number, slow: () => Promise<void>): Promise<Stage> {
  const provider = await startProviderServer({ script: answerTo, first: life * 100 });
  const holdfast = await createHoldfast({ store: sqlite(store), tools: tools(slow) });
  return {
    holdfast,
    provider,
    model: modelAt(provider.url),
    async [Symbol.asyncDispose]() {
      await holdfast.close();
      await provider.close();
    },
  };
}

/** The real adapter. Its SDK is an optional peer that may not be installed, so a few lines of `fetch` take its place. */
function modelAt(url: string): Model {
  const create = async (body: object, { signal }: { readonly signal: AbortSignal }) => {
    const headers = { "content-type": "application/json", "x-api-key": "demo", "anthropic-version": "2023-06-01" };
    const answer = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body), signal });
    const said = (await answer.json()) as { readonly error?: { readonly message: string } };
    if (!answer.ok) throw Object.assign(new Error(said.error?.message ?? answer.statusText), { status: answer.status });
    return said;
  };
  return anthropic({ model: "demo", stream: false, client: { messages: { create } } });
}

/** Tools as anybody would write them. What they do to files counts when the call is committed, and not before. */
function tools(slow: () => Promise<void>): readonly Tool[] {
  return [
    defineTool<{ readonly folder: string }>({
      name: "list_files",
      access: "read",
      run: async ({ folder }, { files }) => (await files.list(folder)).map(({ name }) => name).join("\n"),
    }),
    defineTool<{ readonly path: string }>({
      name: "read_file",
      access: "read",
      run: ({ path }, { files }) => files.readText(path),
    }),
    defineTool<{ readonly text: string }>({
      name: "search",
      access: "read",
      async run({ text }, { files }) {
        const found: string[] = [];
        for (const { name } of await files.list("src")) {
          const places = (await files.readText(`src/${name}`)).split(text).length - 1;
          if (places > 0) found.push(`${name}: ${places} places`);
        }
        return found.join("\n");
      },
    }),
    defineTool<{ readonly path: string; readonly find: string; readonly replace: string }>({
      name: "edit_file",
      access: "write",
      async run({ path, find, replace }, call) {
        const text = await call.files.readText(path);
        if (!text.includes(find)) return call.fail("not-found", `"${find}" is not in ${path}`);
        await call.files.writeText(path, text.replaceAll(find, replace));
        return `${text.split(find).length - 1} places changed`;
      },
    }),
    defineTool({
      name: "run_tests",
      access: "write",
      async run(_, call) {
        await call.files.writeText("test-report.txt", "running …");
        await slow();
        const passes = (await call.files.readText("src/cart.test.ts")).includes("sum(");
        await call.files.writeText("test-report.txt", passes ? "1 passed" : "1 failed");
        return passes ? "1 passed" : "1 failed: total is not defined";
      },
    }),
  ];
}
