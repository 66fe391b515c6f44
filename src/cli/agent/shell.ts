import { defineTool, shellReadOnly, type SchemaResult, type StandardSchema, type Tool } from "../../index.ts";

interface Command {
  readonly command: string;
}

/**
 * A command in the folder. What it did is kept or undone with its call. An exit code is a result, and what it means is for
 * the model to say; a command that did not end by itself is a failure, and leaves nothing.
 */
export const shellTool: Tool = defineTool<Command>({
  name: "shell",
  description:
    "Run a command line in the workspace with /bin/sh and see its output and exit code. A command that runs out of time " +
    "is ended and undone. Nothing stays running afterwards.",
  access: "execute",
  readOnly: shellReadOnly(),
  input: { "~standard": { version: 1, vendor: "holdfast", validate } } satisfies StandardSchema<Command>,
  inputSchema: {
    type: "object",
    properties: { command: { type: "string", description: "One line for /bin/sh." } },
    required: ["command"],
  },
  async run({ command }, call) {
    const { end, exitCode, stdout, stderr } = await call.exec(command);
    const output = [stdout.text, stderr.text].filter((text) => text !== "").join("\n");
    if (end !== "exited") return call.fail(end, `The command did not end by itself (${end}).\n${output}`);
    return `exit ${String(exitCode)}\n${output}`;
  },
});

function validate(value: unknown): SchemaResult<Command> {
  const { command } = (value ?? {}) as { readonly command?: unknown };
  if (typeof command !== "string" || command.trim() === "")
    return { issues: [{ message: "must be a string", path: ["command"] }] };
  return { value: { command } };
}
