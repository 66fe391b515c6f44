/** What hooks of the Claude Agent SDK are given and answer, by shape: `query({ prompt, options })` of 0.3 takes them. */

/** What a hook hears. Fields that an event does not have are absent. */
export interface HookInput {
  readonly hook_event_name: string;
  readonly session_id: string;
  /** The folder that the host is in. */
  readonly cwd?: string;
  readonly permission_mode?: string;
  readonly tool_name?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
  readonly tool_use_id?: string;
  /** The sub-agent in which it happens; absent for the host itself. */
  readonly agent_id?: string;
  /** The calls of one answer, when all of them are over. */
  readonly tool_calls?: readonly { readonly tool_use_id?: string; readonly tool_response?: unknown }[];
  readonly error?: string;
  readonly reason?: string;
  readonly is_interrupt?: boolean;
  readonly prompt?: string;
  readonly trigger?: string;
}

export interface HookOutput {
  readonly systemMessage?: string;
  readonly hookSpecificOutput?:
    | {
        readonly hookEventName: "PreToolUse";
        readonly permissionDecision?: "deny" | "ask";
        readonly permissionDecisionReason?: string;
      }
    | { readonly hookEventName: "PostToolUse"; readonly additionalContext: string };
}

/** How a hook is asked. */
export interface HookAsking {
  /** Aborts when the host does not wait for the answer any more. */
  readonly signal?: AbortSignal;
}

type Hook = (input: never, toolUseId: string | undefined, asking: HookAsking) => Promise<HookOutput>;

export interface HookMatcher {
  readonly hooks: Hook[];
  /** `block`: when our hook fails, the call does not go ahead unseen. */
  readonly onFailure?: "block";
}

/** The options that this adapter adds to; every other passes through. */
export interface ClaudeOptions {
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  readonly hooks?: Readonly<Record<string, readonly unknown[] | undefined>>;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
}

/** One line of a session's log, as the SDK passes it to a session store. */
export type StoreEntry = { type: string; [field: string]: unknown };

export interface SessionKey {
  projectKey: string;
  sessionId: string;
  subpath?: string;
}

/** Where the SDK keeps copies of its session logs. */
export interface SessionStore {
  append(key: SessionKey, entries: StoreEntry[]): Promise<void>;
  load(key: SessionKey): Promise<StoreEntry[] | null>;
}

/** A tool of a server's as the host calls it: every letter that it does not know becomes `_`. */
export function hostName(tool: string): string {
  return tool.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}

/** What the SDK's own tools touch; what changes only the host's own lists and mode is taken for reading. A tool that is not here is taken for one that reaches outside. */
export const NATIVE_ACCESS: Readonly<Record<string, "read" | "write" | "execute" | "external">> = {
  Read: "read",
  Glob: "read",
  Grep: "read",
  LS: "read",
  LSP: "read",
  BashOutput: "read",
  TaskOutput: "read",
  CronList: "read",
  ListMcpResourcesTool: "read",
  TodoWrite: "read",
  TaskCreate: "read",
  TaskGet: "read",
  TaskList: "read",
  TaskUpdate: "read",
  AskUserQuestion: "read",
  EnterPlanMode: "read",
  ExitPlanMode: "read",
  ToolSearch: "read",
  Write: "write",
  Edit: "write",
  MultiEdit: "write",
  NotebookEdit: "write",
  Bash: "execute",
  WebFetch: "external",
  WebSearch: "external",
  Task: "external",
  Agent: "external",
};

/** Which argument of a tool that writes names its file. */
export const FILE_ARGUMENT: Readonly<Record<string, string>> = {
  Write: "file_path",
  Edit: "file_path",
  MultiEdit: "file_path",
  NotebookEdit: "notebook_path",
};
