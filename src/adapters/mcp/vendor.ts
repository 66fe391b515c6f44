/**
 * A client of the Model Context Protocol, by its shape: `Client` of `@modelcontextprotocol/sdk` 1 and of `/client` 2
 * fit.
 */
export interface McpClient {
  // Methods, not functions: a client that takes narrower parameters still fits.
  listTools(params?: { cursor?: string }, options?: never): Promise<McpToolList>;
  /** Version 2 takes its options as the second argument; version 1 as the third, after a schema. */
  callTool(params: McpCall, second?: never, third?: never): Promise<object>;
  /** Called with notifications that have no other handler. */
  fallbackNotificationHandler?: ((notification: never) => Promise<void>) | undefined;
  /** What the server told when the client was connected; nothing until then. */
  getServerCapabilities?(): object | undefined;
  /** The line to the server, while there is one. */
  readonly transport?: object | undefined;
}

interface McpToolList {
  readonly tools: readonly McpTool[];
  readonly nextCursor?: string | undefined;
}

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: object;
  /** The schema of its structured output. Clients reject an answer that does not match, after the tool has run. */
  readonly outputSchema?: object | undefined;
  /** What the server says about its own tool: `readOnlyHint`, `destructiveHint`, … */
  readonly annotations?: object | undefined;
}

export interface McpCall {
  name: string;
  arguments?: Record<string, unknown>;
}

/** What both versions know of options for a request. */
export interface McpRequestOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
  readonly onprogress: (progress: { readonly message?: string | undefined; readonly progress?: number }) => void;
  readonly resetTimeoutOnProgress: true;
}

/** The one difference that matters here is told by how many parameters the method names. */
export function callMcp(client: McpClient, call: McpCall, options: McpRequestOptions): Promise<object> {
  const given = options as never;
  return client.callTool.length === 2 ? client.callTool(call, given) : client.callTool(call, undefined, given);
}

/** Version 2 lists nothing when it is not connected, or not yet again: that is no list of the server's. */
export function isConnected(client: McpClient): boolean {
  if ("transport" in client && client.transport === undefined) return false;
  return client.getServerCapabilities === undefined || client.getServerCapabilities() !== undefined;
}

/** Version 2 keeps lists for as long as a server allows. */
export function listMcp(client: McpClient, cursor: string | undefined): Promise<McpToolList> {
  return client.listTools(cursor === undefined ? {} : { cursor }, { cacheMode: "refresh" } as never);
}

export const TOOLS_CHANGED = "notifications/tools/list_changed";
