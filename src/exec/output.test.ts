import { expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { execPart, type ExecNote, withEvidence } from "./evidence.ts";
import { Output } from "./output.ts";

test("[EXEC-3] the beginning and the end of what is too long are shown, never cut inside a letter, and how much lies between", () => {
  for (const letter of ["a", "é", "€", "\u{1F600}"]) {
    const whole = letter.repeat(60);
    for (let shown = 1; shown < 50; shown += 1) {
      const output = new Output(shown);
      for (const byte of Buffer.from(whole)) output.add(Uint8Array.of(byte));
      expect(output.text.isWellFormed()).toBe(true);
      expect(output.text).not.toContain("\uFFFD");
      const left = Number(/… (\d+) bytes left out …/.exec(output.text)?.[1]);
      const kept = Buffer.byteLength(output.text.replace(/\n… \d+ bytes left out …\n/, ""));
      expect(kept + left).toBe(Buffer.byteLength(whole));
    }
  }
});

test("[EXEC-3] what is no text at all is shown as far as it goes, and what fits is shown whole", () => {
  const noise = new Output(8);
  noise.add(new Uint8Array(64).fill(0x80));
  expect([noise.truncated, noise.text.includes("bytes left out")]).toEqual([true, true]);
  const small = new Output(8);
  small.add(Buffer.from("four"));
  expect([small.truncated, small.text]).toEqual([false, "four"]);
});

test("[EXEC-22] of what never ends only the newest is kept", () => {
  const output = new Output(10);
  for (let nth = 0; nth < 1_000; nth += 1) output.addLast(Buffer.from(`${nth}\n`));
  expect(output.bytes).toBeLessThan(20);
  expect(output.text.endsWith("999\n")).toBe(true);
});

test("[EXEC-3] what is noted of a command is data with the content it names, and nothing else is read as such", () => {
  const note: ExecNote = { callId: "c", command: "ls", end: "exited", driver: "portable", exitCode: 0 };
  const bytes = Buffer.from("out");
  const after = withEvidence(note, [bytes])([]);
  expect(execPart.change([], after)).toMatchObject({ delta: [note], contents: [{ bytes }] });
  expect(execPart.change(after, after)).toBeUndefined();
  expect(execPart.apply([], [note] as unknown as Json)).toEqual([note]);
  expect(execPart.change([], [{ ...note }])).toMatchObject({ contents: [] });
  for (const data of [{}, [{}], [{ ...note, end: 7 }], 7] as readonly Json[])
    expect(() => execPart.decode(data)).toThrow(expect.objectContaining({ code: "SNAPSHOT_CORRUPT" }));
  expect(() => execPart.decode([{ ...note, stdout: "../x" }] as unknown as Json)).toThrow(
    expect.objectContaining({ name: "HoldfastError" }),
  );
});
