import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { loadSession, type LoadedSession } from "../../src/index.ts";
import { call, output, sketch, user } from "../histories/items.ts";

const log = [
  user("go"),
  call("c1", { id: "fc_1", at: "2026-01-01T00:00:00.000Z" }),
  user("are you there?"),
  output("stale"),
];
const saved = log.map((item) => JSON.stringify(item)).join("\n");

test("[R01] [N14] two processes that reopen the same crashed session send the same bytes", () => {
  const door = new URL("../../src/index.ts", import.meta.url).href;
  const program = `import { loadSession } from ${JSON.stringify(door)};
    process.stdout.write(JSON.stringify(loadSession(process.env.SAVED).history));`;
  const inAnother = () =>
    execFileSync(process.execPath, ["--input-type=module", "-e", program], {
      env: { ...process.env, SAVED: saved },
      encoding: "utf8",
    });
  const here = JSON.stringify(loadSession(saved).history);
  expect(inAnother()).toBe(here);
  expect(inAnother()).toBe(here);
});

test("[R01] the session goes on, and a second crash repairs only what is new", () => {
  const first = loadSession(saved) as Extract<LoadedSession, { mode: "writable" }>;
  expect(sketch(first.history)).toEqual(["user", "call c1", "syn c1", "user"]);
  const grown = [...first.history, call("c2"), output("c2"), call("c3")];
  const again = loadSession(JSON.stringify(grown)) as Extract<LoadedSession, { mode: "writable" }>;
  expect(again.records).toMatchObject([{ fault: "missing-output", callId: "c3" }]);
  expect(again.history.slice(0, 4)).toEqual(first.history);
});
