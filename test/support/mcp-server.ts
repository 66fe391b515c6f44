/** A server of its own process, over standard input and output. It notes what it did in the file that it is told. */
import { Server } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { appendFileSync } from "node:fs";

const server = new Server({ name: "notes", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler("tools/list", () => ({
  tools: [
    { name: "note", description: "Writes a line.", inputSchema: { type: "object" as const } },
    { name: "die", description: "Writes a line and dies.", inputSchema: { type: "object" as const } },
  ],
}));
server.setRequestHandler("tools/call", ({ params }) => {
  const { file, line } = params.arguments as { readonly file: string; readonly line: string };
  appendFileSync(file, `${line}\n`);
  if (params.name === "die") process.exit(1);
  process.stderr.write(""); // servers talk on standard error; nothing is read from it
  return { content: [{ type: "text" as const, text: `noted ${line}` }] };
});
await server.connect(new StdioServerTransport());
