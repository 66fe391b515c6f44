import type { PlantedBug } from "./planted-bug.ts";

const SIM = { rig: "sim", args: ["--cases", "300"] } as const;

const SETTLE = "src/transaction/settle.ts";
const EFFECTS = "src/transaction/effects.ts";
const OPEN_CALL = "src/transaction/open-call.ts";
const BRANCH = "src/state/branch.ts";
const BOUNDARIES = "src/turn/tool-boundaries.ts";
const REWIND = "src/turn/rewind.ts";

/** One edit that breaks a promise of the kernel; the simulator must notice. */
function kernelBug(name: string, file: string, find: string, replace: string): PlantedBug {
  return { name, edits: [{ file, find, replace }], ...SIM };
}

/** Bugs of state, transaction and turn. Several of them the simulator had found before they were planted. */
export const KERNEL_BUGS: readonly PlantedBug[] = [
  kernelBug("failed-call-keeps-its-changes", SETTLE, "  open.branch.discard();\n", ""),
  kernelBug(
    "discarded-call-loses-its-log",
    BRANCH,
    "this.#intents.filter(({ part }) => this.#isLog(part));",
    'this.#intents.filter(({ part }) => part === "" && this.#isLog(part));',
  ),
  kernelBug(
    "what-was-read-is-not-checked",
    BRANCH,
    "if (newest === this.base) return [];",
    "if (newest !== undefined) return [];",
  ),
  kernelBug(
    "reducers-not-replayed",
    BRANCH,
    "newest === this.base ? this.#values : this.#redone(newest)",
    "newest === this.base || newest !== undefined ? this.#values : this.#redone(newest)",
  ),
  kernelBug(
    "savepoint-keeps-everything",
    BRANCH,
    "this.#intents.filter((intent) => !goes(intent));",
    "[...this.#intents];",
  ),
  kernelBug("handle-outlives-its-call", OPEN_CALL, "    this.#handle?.close();\n", ""),
  kernelBug(
    "call-runs-before-it-is-written",
    "src/transaction/transactions.ts",
    "await open.announce(begun !== undefined);",
    "open.announce(begun !== undefined).catch(() => {});",
  ),
  kernelBug(
    "opening-not-on-the-disk",
    OPEN_CALL,
    "{ traceless: !byHost && isTraceless(this.tool) }",
    "{ traceless: true }",
  ),
  kernelBug("success-without-a-change", SETTLE, "  if (state.poisoned) return instead(GIVEN_UP);\n", ""),
  kernelBug("inner-failure-not-rolled-back", OPEN_CALL, "        branch.rollbackTo(savepoint);\n", ""),
  kernelBug(
    "effect-of-a-rolled-back-part-stays",
    "src/transaction/letting-go.ts",
    "failed ? NOTHING_LEFT : this.#undo(callId, savepoint);",
    "failed || savepoint !== undefined ? NOTHING_LEFT : this.#undo(callId, savepoint);",
  ),
  kernelBug(
    "call-inside-a-rolled-back-part-stands",
    "src/transaction/inner-calls.ts",
    'inner.outcome = undone(knowing(was, now), words, "parent-discarded");',
    "inner.outcome = knowing(was, now);",
  ),
  kernelBug(
    "abort-unheard",
    "src/transaction/attempt.ts",
    "[onAbort(limits.signal, first.resolve), onDeadline",
    "[onAbort(new AbortController().signal, first.resolve), onDeadline",
  ),
  kernelBug(
    "session-closed-under-its-calls",
    "src/turn/session.ts",
    "      await this.#leaving.stopAll(this.transactions, this.state.clock);\n",
    "",
  ),
  kernelBug("call-ends-twice", "src/transaction/pending.ts", "    this.#ended = true;\n", ""),
  kernelBug(
    "true-before-it-is-written",
    "src/state/truth.ts",
    "    try {\n      if (typeof how",
    "    this.#root = change.root;\n    try {\n      if (typeof how",
  ),
  kernelBug(
    "unclear-failure-taken-for-none",
    "src/state/truth.ts",
    "if (this.#ledger.unsure === true)",
    "if (this.#ledger.unsure === undefined)",
  ),
  kernelBug(
    "gate-lets-everybody-through",
    "src/state/gate.ts",
    "return this.#line.run(work);",
    "return Promise.resolve().then(work);",
  ),
  kernelBug(
    "resource-used-by-two",
    "src/state/exclusive.ts",
    "while (this.#hold !== undefined && this.#hold.by !== by) {",
    'while (this.#hold !== undefined && this.#hold.by === "") {',
  ),
  kernelBug(
    "resource-not-put-back",
    "src/state/exclusive.ts",
    "if (resource !== undefined) await putBack(resource, was);",
    "void was;",
  ),
  kernelBug(
    "removed-field-not-told",
    "src/state/delta.ts",
    "for (const key of [...goneFields(before, after, changed), ...moved]) changes.push({ unset: [...path, key] });",
    "",
  ),
  kernelBug(
    "effect-of-a-discarded-call-forgotten",
    SETTLE,
    "await effects.undo([...idsOf(open.inner.superseded()), open.call.id], specsOf(world));",
    "effects.of(open.call.id);",
  ),
  kernelBug(
    "effect-done-twice",
    EFFECTS,
    'if (known?.standing.is === "done" || known?.standing.is === "not-undone") {',
    'if (known?.standing.is === "not-undone") {',
  ),
  kernelBug(
    "effect-known-too-late",
    EFFECTS,
    "    this.#known.replace(id, known);\n    this.#known.reliance.add(known, callId, this.#ids.outermost(callId));\n    try {\n      await begun;",
    "    try {\n      await begun;\n      this.#known.replace(id, known);\n      this.#known.reliance.add(known, callId, this.#ids.outermost(callId));",
  ),
  kernelBug(
    "open-effect-assumed-undone",
    EFFECTS,
    'this.#known.stand(known, standing.is === "open" ? { is: "unknown" } : standing);',
    'this.#known.stand(known, standing.is === "open" ? { is: "undone" } : standing);',
  ),
  kernelBug(
    "joining-not-remembered",
    EFFECTS,
    "this.#known.reliance.add(known, callId, this.#ids.outermost(callId));\n    const joining",
    "const joining",
  ),
  kernelBug(
    "undo-not-written-before",
    EFFECTS,
    "if (!standing.begun && spec?.undo !== undefined) {",
    "if (!standing.begun && spec === undefined) {",
  ),
  kernelBug("rewind-leaves-effects", REWIND, "await transactions.undoEffects(undone)", "transactions.planUndo(undone)"),
  kernelBug("rewind-asks-too-early", REWIND, "        aim.mayRewind();\n", ""),
  kernelBug(
    "rewind-not-remembered",
    BOUNDARIES,
    "(one.after > to ? { ...one, rewound: true } : one)",
    "(one.after > to ? { ...one } : one)",
  ),
  kernelBug("boundary-after-the-call", BOUNDARIES, "  let before = seq - 1;\n", "  let before = seq;\n"),
  kernelBug(
    "first-change-after-a-checkpoint-lost",
    "src/turn/rebuild.ts",
    "tail.slice(at + 1)",
    "tail.slice(at + (base === undefined ? 1 : 2))",
  ),
  kernelBug(
    "checkpoint-keeps-an-old-part",
    "src/turn/part-blobs.ts",
    "kept === undefined || kept.value !== value",
    "kept === undefined",
  ),
  kernelBug("given-up-state-kept", "src/turn/session.ts", "truth.refusePoisoned();", "void truth;"),
  kernelBug(
    "first-use-not-taken-back",
    REWIND,
    "[...new Set([...state.exclusive.origins.keys(), ...resources.keys()])]",
    "[...resources.keys()]",
  ),
  kernelBug(
    "conversation-keeps-what-was-taken-back",
    "src/turn/conversation.ts",
    "filter(({ seq, callId }) => seq <= to &&",
    "filter(({ seq, callId }) => seq <= to + 2 &&",
  ),
];
