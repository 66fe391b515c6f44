import { expect, test } from "vitest";
import { nameOfBytes } from "../records/blob-name.ts";
import { type ExecNote, execPart, letGoOfOutputs, withEvidence } from "./evidence.ts";

const outputOf = (nth: number) => Buffer.from(`what command ${nth} put out`);
const noteOf = (nth: number): ExecNote => ({
  callId: "c",
  command: `command ${nth}`,
  end: "exited",
  driver: "portable",
  stdout: nameOfBytes(outputOf(nth)),
});

function afterMore(now: readonly ExecNote[], from: number, to: number): readonly ExecNote[] {
  let notes = now;
  for (let nth = from; nth < to; nth += 1) notes = withEvidence(noteOf(nth), [outputOf(nth)])(notes);
  return notes;
}

test("[EXEC-3] the output of every command of a call is kept, however many it runs", () => {
  const first = afterMore([], 0, 203);
  const written = execPart.change([], first);
  expect(written?.contents?.map(({ name }) => name)).toEqual(first.map(({ stdout }) => stdout));
  expect(first.length).toBe(203);
  expect(execPart.apply([], written?.delta ?? null)).toEqual(first);
});

test("[EXEC-40] what is remembered of the commands of calls that have ended stays bounded, the same for every process", () => {
  const first = afterMore([], 0, 203);
  letGoOfOutputs(first);
  const second = afterMore(first, 203, 206);
  expect(second.map(({ command }) => command)).toEqual(Array.from({ length: 200 }, (_, nth) => `command ${nth + 6}`));
  expect(execPart.apply(first, execPart.change(first, second)?.delta ?? null)).toEqual(second);
});
