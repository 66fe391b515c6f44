/**
 * A client of the Model Context Protocol, by its shape: `Client` of `@modelcontextprotocol/sdk` 1 and of `/client` 2
 * fit.
 */
export interface McpClient {
  // Methods, not functions: a client that takes narrower parameters still fits.
  listTools(params?: { cursor?: string }): Promise<McpToolList>;
  /** Version 2 takes its options as the second argument; version 1 as the third, after a schema. */
  callTool(params: McpCall, second?: never, third?: never): Promise<object>;
  /** Called with notifications that have no other handler. */
  fallbackNotificationHandler?: ((notification: never) => Promise<void>) | undefined;
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

export const TOOLS_CHANGED = "notifications/tools/list_changed";
