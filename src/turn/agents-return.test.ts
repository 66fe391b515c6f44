import { expect, test } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import type { StoreRead } from "../contracts/store.ts";
import { callIdAt, toSessionId } from "../records/ids.ts";
import type { RecordDraft } from "../records/kinds.ts";
import { agentSessionOf } from "./agent-names.ts";
import { agentCalls } from "./agents-return.ts";
import { type SessionFold, sessionFold } from "./fold.ts";

const [gone, damaged] = [1, 2].map((nth) => callIdAt(toSessionId("s"), 1, nth));

const reader = (session: StoreRead["session"]) => ({
  reading: <T>(use: (read: StoreRead) => Promise<T>) => use({ session } as StoreRead),
});

test("[AGENT-12] a sub-agent whose session is damaged is one that worked, and told as stuck later", async () => {
  const store = reader(async (id) => {
    if (id === agentSessionOf("s", damaged!)) throw new HoldfastError("SESSION_DAMAGED", { session: id });
    return undefined;
  });
  expect(await agentCalls(store, "s", [gone!, damaged!])).toEqual([damaged]);
});

test("[AGENT-12] a store that cannot be read says so, and not that nobody worked", async () => {
  const store = reader(async () => {
    throw new HoldfastError("STORE_CLOSED");
  });
  await expect(agentCalls(store, "s", [gone!])).rejects.toMatchObject({ code: "STORE_CLOSED" });
});

test("[AGENT-12] what is still to be taken back is known from a checkpoint, too, and a fork takes none of it back", () => {
  const fold = sessionFold(10);
  const step = (now: SessionFold, draft: RecordDraft) => fold.step(now, draft, 1);
  const agents = [gone!, damaged!];
  const rewound = step(fold.start([]), { kind: "rewound", to: 0, scope: ["files"], agents });
  const kept = step(fold.start([]), fold.checkpoint!(rewound, { parts: {} } as object));
  expect(kept.returning).toEqual(agents);
  const crashed = { kind: "session-recovered", closedCalls: [], damaged: [], previousWriter: "died" } as const;
  expect(step(kept, { ...crashed, agents: [damaged!] }).returning).toEqual(agents);
  expect(step(kept, { kind: "agents-returned", calls: [gone!] }).returning).toEqual([damaged]);
  expect(step(kept, { kind: "forked", from: toSessionId("s"), after: 1 }).returning).toEqual([]);
});
