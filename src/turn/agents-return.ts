import { HoldfastError } from "../base/errors.ts";
import { inWords } from "../base/words.ts";
import type { Store, StoreRead } from "../contracts/store.ts";
import { appendReserved } from "../journal/journal.ts";
import { type CallId, toSessionId } from "../records/ids.ts";
import { agentSessionOf } from "./agent-names.ts";
import type { AgentReturn } from "./rewind.ts";
import type { Session } from "./session.ts";
import type { AgentsOf } from "./session-parts.ts";
import type { Lender } from "./sub-agent.ts";

export function agentsOf(store: Store, id: string, lender: Lender): AgentsOf<Session> {
  return {
    workedFor: (calls) => agentCalls(store, id, calls),
    plan: (session, calls) => takenBack(session, calls, lender, true),
    async takeBack(session) {
      const { returning: calls } = session.journal.folded;
      if (calls.length === 0) return [];
      const returns = await takenBack(session, calls, lender, false);
      await appendReserved(session.journal, { kind: "agents-returned", calls });
      return returns;
    },
  };
}

/** Those of these calls that sub-agents of this session have worked for. */
export function agentCalls(
  store: Pick<Store, "reading">,
  session: string,
  calls: readonly CallId[],
): Promise<readonly CallId[]> {
  return store.reading(async (read) => {
    const found: CallId[] = [];
    for (const callId of calls) if (await isThere(read, agentSessionOf(session, callId))) found.push(callId);
    return found;
  });
}

/** Also one that is damaged: that its work cannot be taken back is told, and keeps nobody from the session it worked for. */
async function isThere(read: StoreRead, id: string): Promise<boolean> {
  try {
    return (await read.session(toSessionId(id))) !== undefined;
  } catch (error) {
    if (HoldfastError.is(error, "SESSION_DAMAGED")) return true;
    throw error;
  }
}

/** Takes back, newest first, what sub-agents did for calls that are gone: rewound, or cut off by a crash. */
async function takenBack(
  session: Session,
  calls: readonly CallId[],
  lender: Lender,
  dryRun: boolean,
): Promise<readonly AgentReturn[]> {
  const returns: AgentReturn[] = [];
  for (const callId of calls.toReversed()) {
    const id = agentSessionOf(session.id, callId);
    try {
      if (!(await lender.known(id))) continue;
      // With all the tools there are: those that it may use need not be here yet, and what they did outside may be undone.
      const child = await lender.open(id, undefined);
      try {
        const kept = child.checkpoints.list();
        const isWhole = kept[0]?.callId === (await firstEnded(child));
        const first = kept.find(({ rewound }) => !rewound);
        const rewound = first === undefined ? undefined : await child.rewind({ before: first.callId, dryRun });
        const what = { callId, session: id, ...(rewound === undefined ? {} : { rewound }) };
        returns.push(isWhole ? what : { ...what, why: BEGINNING_GONE });
      } finally {
        await child.close();
      }
    } catch (error) {
      returns.push({ callId, session: id, why: inWords(error) });
    }
  }
  return returns;
}

/** The first call that the session's records tell of, as far as they can be read from their beginning. */
async function firstEnded(child: Session): Promise<string | undefined> {
  let next = 1;
  for await (const entry of child.read()) {
    const isGap = entry.seq !== next || entry.kind === "damaged" || (entry.kind === "dropped" && entry.was === CLOSED);
    if (isGap) return "";
    if (entry.kind === CLOSED) return entry.callId;
    next += 1;
  }
  return undefined;
}

const CLOSED = "call-closed";
const BEGINNING_GONE = "What it had done first is no longer kept, so it could not be taken back.";
