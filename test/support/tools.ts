import type { Json, SessionOptions } from "../../src/index.ts";
import { type ToolLimits, workspaceTools } from "../../src/tools/entry.ts";
import { opened } from "./durable.ts";

/** A session with the workspace tools and these files, and a short way to call one. */
export async function withTools(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  limits: Partial<ToolLimits> = {},
  options: SessionOptions = {},
) {
  const { session, holdfast, disk } = await opened(undefined, { tools: workspaceTools({ limits }), ...options });
  for (const [path, content] of Object.entries(files))
    await (typeof content === "string" ? session.files.writeText(path, content) : session.files.write(path, content));
  const run = (name: string, input: Json) => session.runTool({ name, input });
  return {
    session,
    holdfast,
    disk,
    run,
    /** What the tool said; a failure is said, too. */
    said: async (name: string, input: Json) => {
      const { output } = await run(name, input);
      return typeof output === "string" ? output : JSON.stringify(output);
    },
    text: (path: string) => session.files.readText(path),
  };
}
