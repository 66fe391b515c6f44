import { Marks } from "../transaction/marks.ts";
import { Conversation } from "./conversation.ts";
import { decideIn } from "./decide.ts";
import { catchUp, type Ground } from "./ground.ts";
import type { Leaving } from "./leaving.ts";
import { withoutSecrets } from "./media-secrets.ts";
import { rewoundBy } from "./rewound-by.ts";
import type { SessionParts } from "./session-parts.ts";
import { SessionWriteback } from "./writeback.ts";

/** What the turns of a durable session walk on, and what of it the session itself goes on with. */
export interface SessionGround {
  readonly ground: Ground;
  readonly marks: Marks;
  readonly writeback: SessionWriteback;
}

export function sessionGround(parts: Omit<SessionParts, "agents">, leaving: Leaving): SessionGround {
  const { journal, state, transactions, context, story, teller, ledger, shelves, writebackOptions } = parts;
  const { session: id } = journal;
  const decide = decideIn(state, (drafts, change, contents) =>
    ledger.write(drafts, change, "turn", undefined, contents),
  );
  const marks = new Marks({ state, transactions, from: () => rewoundBy(parts, story.catalog, ground) });
  const prepare = () => knowWhatWasSaid(ground);
  const resolves = (evidence: string) => context.resolves(evidence);
  const writeback = new SessionWriteback({ id, state, shelves, decide, prepare, resolves }, writebackOptions);
  const ground: Ground = {
    id,
    state,
    transactions,
    conversation: new Conversation(),
    context,
    story,
    teller,
    get signal() {
      return marks.heard(journal.signal);
    },
    leaving,
    get head() {
      return journal.head.seq;
    },
    get rewrittenAt() {
      return journal.folded.rewrittenAt;
    },
    readOn: (from) => journal.readOn(from),
    content: (name) => journal.readBlob(name),
    waits: (callId) => journal.folded.waiting.has(callId),
    replies: new Map(),
    running: false,
    write: (drafts, events = [], contents = []) => decide(() => ({ drafts, events, contents, answer: undefined })),
    stage: (bytes, mediaType) => journal.stageBlob(withoutSecrets(bytes, mediaType, journal.redactor)),
    decide,
    writeback,
  };
  return { ground, marks, writeback };
}

/** Reads what was said, so that every handle of it resolves, also in a turn that has not asked anybody yet. */
async function knowWhatWasSaid(ground: Ground): Promise<void> {
  const { conversation, context, running } = ground;
  if (!running) await catchUp(ground); // a turn that runs reads on by itself
  context.know(conversation.items, (item) => conversation.idOf(item));
}
