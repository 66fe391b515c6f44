/** `holdfast/adapters/claude-agent-sdk`: a session under the loop of the Claude Agent SDK. */
import { badOption, checkOptions, oneOf, type OptionRule } from "../../base/options.ts";
import type { Session } from "../../index.ts";
import { serveTools } from "../tool-server.ts";
import { HostCalls } from "./hooks.ts";
import { NativeTools } from "./native-tool.ts";
import {
  type ClaudeOptions,
  FILE_ARGUMENT,
  type HookAsking,
  type HookInput,
  type HookMatcher,
  type HookOutput,
  hostName,
} from "./vendor.ts";

export { type LoadRepair, repairOnLoad } from "./session-store.ts";
export type { SessionKey, SessionStore, StoreEntry } from "./vendor.ts";

/** Options of `holdfastOptions`. */
export interface UnderClaude {
  /**
   * The name of the MCP server that offers the session's tools. Default `holdfast`: the tools are then called
   * `mcp__holdfast__…`.
   */
  readonly server?: string;
  /**
   * What happens to the host's own tools that write files. `replaced` (default): they are refused, and the session's
   * tools take their place. `kept`: they stay, and what a file held before is kept with the call, so that it can be
   * restored.
   */
  readonly fileTools?: "replaced" | "kept";
}

/** The options for `query`, and what the session knows about the host's calls. */
export interface ClaudeHost<O> {
  readonly options: O;
  /** The host's own calls that have begun but not ended, by the host's ids. */
  readonly open: readonly string[];
  /** Closes what is still open. Call it when the query is over. */
  readonly leave: () => Promise<void>;
}

/**
 * Makes the options for `query`: the session's tools as an MCP server in this process, and hooks that open every other
 * call before it runs and close it once, as the host reports its end. Pass your own options; Holdfast adds to them and
 * replaces none.
 */
export async function holdfastOptions<O extends object>(
  session: Session,
  given: O,
  how: UnderClaude = {},
): Promise<ClaudeHost<O>> {
  checkOptions(how, { server: SERVER, fileTools: oneOf("replaced", "kept") });
  // The host would not know it, and the file tools would be refused without a word why.
  if ("fileTools" in given) throw badOption("fileTools", given.fileTools, "to stand in the third argument");
  const { server = "holdfast", fileTools = "replaced" } = how;
  const options: ClaudeOptions = given;
  // Theirs would be gone, and options that are ours already would open every call twice.
  if (Object.hasOwn(options.mcpServers ?? {}, server))
    throw badOption("server", server, "a name that none of your servers has");
  const prefix = `mcp__${server}__`;
  const natives = NativeTools.in(session);
  const own = session.transactions.tools.map(({ name }) => name);
  const calls = new HostCalls(session, { prefix, root: session.workspace?.disk.root.path, natives });
  const instance = serveTools(session, {
    name: server,
    consents: ({ alias }) => calls.consented(alias),
    meta: { "anthropic/alwaysLoad": true }, // never hidden behind a search: the prompt speaks of them
  });
  let listed = session.catalog.live.epoch;
  // Before its next request: the host lists the tools once, and would show those of another mode until it is over.
  const tellChanges = async () => {
    const { epoch } = session.catalog.live;
    if (epoch !== listed) await instance.toolsChanged();
    listed = epoch;
  };
  const refused = fileTools === "replaced" ? Object.keys(FILE_ARGUMENT) : [];
  const hooks: Readonly<Record<string, HookMatcher>> = {
    PreToolUse: {
      hooks: [(input: HookInput, _id?: string, asking?: HookAsking) => calls.before(input, asking?.signal)],
      onFailure: "block",
    },
    PostToolUse: { hooks: [(input: HookInput) => calls.after(input)] },
    PostToolUseFailure: { hooks: [(input: HookInput) => calls.failed(input)] },
    PermissionDenied: { hooks: [(input: HookInput) => calls.notPermitted(input, input.reason)] },
    PostToolBatch: {
      hooks: [
        async (input: HookInput) => {
          await calls.batched(input);
          await tellChanges();
          return {};
        },
      ],
    },
    UserPromptSubmit: {
      hooks: [
        async ({ prompt = "" }: HookInput) => {
          await session.append({ kind: "user-said", text: prompt });
          await tellChanges();
          return {};
        },
      ],
    },
    PreCompact: { hooks: [() => beforeCompaction(session)] },
    SubagentStop: { hooks: [(input: HookInput) => calls.stopped(input)] },
    Stop: { hooks: [(input: HookInput) => calls.stopped(input)] },
    StopFailure: { hooks: [(input: HookInput) => calls.stopped(input)] }, // in its place, where its model failed
  };
  return {
    options: {
      ...given,
      mcpServers: { ...options.mcpServers, [server]: { type: "sdk", name: server, instance } },
      hooks: merged(options.hooks ?? {}, hooks),
      allowedTools: [...(options.allowedTools ?? []), ...own.map((name) => `${prefix}${hostName(name)}`)],
      ...(refused.length === 0 && options.disallowedTools === undefined
        ? {}
        : { disallowedTools: [...(options.disallowedTools ?? []), ...refused] }),
    },
    get open() {
      return calls.open;
    },
    leave: async () => {
      await calls.leave("The host ended without saying how it ended.");
      await instance.close();
    },
  };
}

/** The host writes any other letter as `_` in the names of tools, and a call of ours would not be known as ours. */
const SERVER: OptionRule = {
  wants: "letters, digits, _ or -",
  fits: (value) => typeof value === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(value),
};

/** What the session must not lose is written back first. The host does not wait for it: what was missed is told. */
async function beforeCompaction(session: Session): Promise<HookOutput> {
  let missed: string | undefined;
  try {
    await session.writeback.commit();
  } catch (error) {
    missed = error instanceof Error ? error.message : String(error);
    const staged = session.writeback.pending.length;
    await session.append({ kind: "fault-raised", fault: "flush-miss", detail: { boundary: "compaction", staged } });
  }
  await session.append({ kind: "boundary-crossed", boundary: "compaction" });
  await session.checkpoint({ tag: "before the host compacts" });
  if (missed === undefined) return {};
  return { systemMessage: `Holdfast: something could not be written back before the host compacts: ${missed}` };
}

/** Ours first: what we deny, nobody else has let through. */
function merged(
  theirs: NonNullable<ClaudeOptions["hooks"]>,
  ours: Readonly<Record<string, HookMatcher>>,
): NonNullable<ClaudeOptions["hooks"]> {
  const events = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
  return Object.fromEntries(
    [...events].map((event) => [
      event,
      [...(ours[event] === undefined ? [] : [ours[event]]), ...(theirs[event] ?? [])],
    ]),
  );
}
