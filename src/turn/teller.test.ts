import { expect, test } from "vitest";
import { FixedClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { KernelEvent } from "../contracts/event-sink.ts";
import { toSessionId } from "../records/ids.ts";
import { Teller } from "./teller.ts";

test("[TELEMETRY-13] a tool that ran is somebody's, also where only a host has it", () => {
  const events: KernelEvent[] = [];
  const sink = { emit: (event: KernelEvent) => void events.push(event) };
  const teller = new Teller(toSessionId("hosted"), new FixedClock(0), { sinks: [sink] });
  teller.hasTool = () => false;
  const draft = { kind: "call-closed", callId: "c", tool: "Bash", status: "failed", reason: "threw", output: "" };
  teller.written([{ draft, seq: 1, at: "2026-01-01T00:00:00.000Z", bytes: 1 }] as never);
  expect(events.map(({ facts }) => [facts["tool"], facts["unknownTool"]])).toEqual([["Bash", undefined]]);
});

test("[TELEMETRY-3] an error of somebody else's is told by its name, never by its words", () => {
  const told: unknown[] = [];
  const emit = ({ facts }: KernelEvent) => told.push(facts["code"]);
  const teller = new Teller(toSessionId("s"), new FixedClock(), { sinks: [{ emit }] });
  const errors = [new RangeError("too large: what was said"), "what was said", new HoldfastError("STORE_IO")];
  for (const error of errors) {
    teller.checkpointFailed(error);
    teller.upkeepFailed(error);
  }
  expect(told).toEqual(["RangeError", "RangeError", "thrown", "thrown", "STORE_IO", "STORE_IO"]);
});
