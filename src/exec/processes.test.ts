import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { scratchFolder } from "../../test/support/places.ts";
import { endBelonging, MARK } from "./processes.ts";

const scratch = scratchFolder();
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

const onLinux = process.platform === "linux";
const wait = () => pause(5);
let places = 0;

/** A shell that holds a folder open as its fourth, as a process does that was made and is no command yet. */
function holding(line: string): { readonly child: ChildProcess; readonly folder: string } {
  places += 1;
  const folder = join(scratch, `home-${places}`);
  mkdirSync(folder);
  const handle = openSync(folder, "r");
  const env = { PATH: process.env["PATH"] ?? "" };
  const child = spawn("/bin/sh", ["-c", line], { env, stdio: ["ignore", "ignore", "ignore", handle] });
  closeSync(handle);
  started.push(child);
  return { child, folder };
}

const gone = (child: ChildProcess) => new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));

test.skipIf(!onLinux)(
  "[EXEC-11] a process that was made when its starter died, and becomes a command only afterwards, is waited for and ended",
  async () => {
    const mark = `late-${process.pid}`;
    const { child, folder } = holding(`sleep 0.2; exec 3<&-; ${MARK}=${mark} exec sleep 1000`);
    await pause(50);
    expect(readlinkSync(`/proc/${child.pid}/fd/3`)).toBe(folder);
    const over = gone(child);
    const ended = await endBelonging({ mark, holds: new Set(), coming: new Set([folder]) }, wait);
    expect([ended, await over]).toEqual([1, "SIGKILL"]);
  },
);

test.skipIf(!onLinux)(
  "[EXEC-11] somebody who only looks there is not waited for without end, and is left alone",
  async () => {
    const { child, folder } = holding("sleep 1000");
    await pause(50);
    const ended = await endBelonging({ mark: "nobody", holds: new Set(), coming: new Set([folder]) }, wait);
    expect([ended, child.exitCode, child.signalCode]).toEqual([0, null, null]);
  },
);

test.skipIf(!onLinux)("[EXEC-5] what belongs by its mark or by what it holds is ended, and nothing else", async () => {
  const mark = `mine-${process.pid}`;
  const { child: marked } = holding(`exec 3<&-; ${MARK}=${mark} exec sleep 1000`);
  const { child: holder, folder } = holding("sleep 1000");
  const { child: stranger } = holding(`${MARK}=${mark}x exec sleep 1000`);
  await pause(100);
  const over = [gone(marked), gone(holder)];
  await endBelonging({ mark, holds: new Set([folder]) }, wait);
  expect(await Promise.all(over)).toEqual(["SIGKILL", "SIGKILL"]);
  expect(stranger.signalCode).toBeNull();
});
