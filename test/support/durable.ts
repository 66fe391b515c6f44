import type { SessionOptions } from "../../src/turn/holdfast-options.ts";
import { Holdfast } from "../../src/turn/holdfast.ts";
import type { Session } from "../../src/turn/session.ts";
import { countingIds } from "../../src/base/ids.ts";
import { counter, diary, steps, writes } from "./calls.ts";
import { MemoryDisk, memoryDeps } from "./stores.ts";

export const step = writes<{ readonly n: string; readonly fail?: boolean }>("step", async ({ n, fail }, call) => {
  call.dispatch(steps.added(n));
  call.dispatch(counter.added(1));
  call.dispatch(diary.said(n));
  await call.files.writeText(`${n}.txt`, `file ${n}`);
  return fail === true ? call.fail("no", "no") : n;
});

export const OPTIONS: SessionOptions = { tools: [step], slices: [counter, steps, diary], development: true };

export function kernel(disk: MemoryDisk, options: SessionOptions = {}) {
  const deps = memoryDeps(disk);
  return { deps, holdfast: new Holdfast(deps, { ...OPTIONS, ids: countingIds(), ...options }) };
}

export async function opened(disk = new MemoryDisk(), options: SessionOptions = {}) {
  const { deps, holdfast } = kernel(disk, options);
  return { disk, deps, holdfast, session: await holdfast.open("s") };
}

export const run = async (session: Session, n: string, fail = false) =>
  (await session.runTool({ name: "step", input: { n, fail } })).callId;
export const look = async (session: Session) => ({
  steps: session.state.session.get(steps),
  counter: session.state.session.get(counter),
  diary: session.state.session.get(diary),
  files: (await session.files.list()).map(({ name }) => name),
});

/** A tool that says when so many of its calls have changed something, and never ends by itself. */
export function endless(calls = 1) {
  const begun = Promise.withResolvers<void>();
  const tool = writes("endless", async (_input, call) => {
    call.dispatch(steps.added("half"));
    calls -= 1;
    if (calls === 0) begun.resolve();
    return new Promise<never>(() => {});
  });
  return { begun: begun.promise, options: { tools: [...(OPTIONS.tools ?? []), tool] } };
}

/** What is staged from here on, by its size. */
export function stagedSizes(session: Session): readonly number[] {
  const sizes: number[] = [];
  const stage = session.journal.stageBlob.bind(session.journal);
  session.journal.stageBlob = async (source) => {
    const blob = await stage(source);
    sizes.push(blob.ref.size);
    return blob;
  };
  return sizes;
}
