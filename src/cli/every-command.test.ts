import { spawn } from "node:child_process";
import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, desk, threeWrites } from "../../test/support/cli.ts";
import { COMMANDS } from "./table.ts";

const at = desk();

/** Each command with what it is good for, and with what cannot be. Those that talk to a model have tests of their own. */
const USES: Readonly<
  Record<string, { readonly good: readonly string[]; readonly bad: readonly (readonly string[])[] }>
> = {
  doctor: { good: ["chat.json", "--format", "openai-chat"], bad: [[], ["chat.json", "--format", "nothing"]] },
  sessions: { good: [], bad: [["surplus"], ["--limit", "few"]] },
  show: { good: ["work"], bad: [[], ["work", "two"], ["work", "--after", "x"]] },
  rewind: { good: ["work", "--before", "last", "--dry-run"], bad: [["work"], ["work", "--before", "nothing"]] },
  fork: { good: ["work", "--after", "last", "--as", "new", "--dry-run"], bad: [["work"], ["work", "--after", "last"]] },
  context: { good: ["work"], bad: [[], ["work", "--turn", "first"]] },
  verify: { good: [], bad: [["work", "two"]] },
  export: { good: ["work"], bad: [[], ["work", "--hide", "NOT_THERE"]] },
  import: { good: ["bundle.tar", "--as", "theirs"], bad: [[], ["bundle.tar", "--as", "not a name"]] },
  gc: {
    good: ["--dry-run"],
    bad: [
      ["--keep-for", "long"],
      ["--keep-bytes", "much"],
    ],
  },
  delete: { good: ["work", "--dry-run"], bad: [[], ["work"]] },
  config: { good: [], bad: [["no.such.key"], ["store", "workspace"]] },
  completion: { good: ["bash"], bad: [["powershell"], ["bash", "zsh"]] },
};
const ELSEWHERE = ["demo", "run", "chat"];

async function desktop(): Promise<void> {
  await threeWrites(at.folder);
  writeFileSync(join(at.folder, "chat.json"), JSON.stringify([{ role: "user", content: "hi" }]));
  await at.run("export", "work", "--out", "bundle.tar");
}

test("every command is used and misused here, or has tests of its own", () => {
  expect([...Object.keys(USES), ...ELSEWHERE].toSorted()).toEqual(COMMANDS.map(({ name }) => name).toSorted());
});

describe.each(Object.entries(USES))("holdfast %s", (name, { good, bad }) => {
  test("[CLI-2] [CLI-12] in a process of its own it does what it is for, and tells it as one JSON object", async () => {
    await desktop();
    const { code, out, err } = at.spawn(name, ...good, "--json");
    expect(err).toBe("");
    expect(typeof JSON.parse(out)).toBe("object");
    expect(out.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(0);
  });

  test("[CLI-2] what cannot be is refused with exit code 2, a code and a remedy, and a flag that is not there, too", async () => {
    await desktop();
    for (const argv of [...bad, [...good, "--no-such-flag"]]) {
      const { code, err } = await at.run(name, ...argv);
      expect([argv, code]).toEqual([argv, 2]);
      expect(err).toMatch(/^[A-Z_]+: .+\ntry: .+/s);
    }
  });
});

test.each([
  ["show", "wrok"],
  ["context", "wrok"],
  ["export", "wrok"],
  ["verify", "wrok"],
  ["delete", "wrok", "--yes"],
  ["rewind", "wrok", "--before", "last"],
  ["fork", "wrok", "--after", "last", "--as", "new"],
])("[CLI-35] holdfast %s names the store that a session is not in, and the nearest that is", async (...argv) => {
  await desktop();
  const store = join(at.folder, ".holdfast", "sessions.db");
  const { code, err } = await at.run(...argv);
  expect(code).toBe(3);
  expect(err).toMatch(/^SESSION_UNKNOWN: .+\ntry: did you mean work\?$/s);
  const details = { session: "wrok", store, didYouMean: "work" };
  expect(await at.json(...argv)).toMatchObject({ ok: false, code: "SESSION_UNKNOWN", details });
});

test("[CLI-12] [CLI-35] a file that doctor cannot read fails in the form of every other failure", async () => {
  expect(await at.json("doctor", "nope.json")).toMatchObject({
    ok: false,
    file: "nope.json",
    code: "TRANSCRIPT_UNREADABLE",
    message: expect.any(String) as string,
    try: expect.any(String) as string,
    details: { system: "ENOENT" },
  });
});

test("[CLI-22] import --dry-run proves the file, refuses what the import would refuse, and takes in nothing", async () => {
  await desktop();
  expect(await at.json("import", "bundle.tar", "--as", "theirs", "--dry-run")).toMatchObject({ ok: true, done: false });
  expect(await at.run("import", "bundle.tar", "--dry-run")).toMatchObject({ code: 2 }); // the name is taken
  const bytes = readFileSync(join(at.folder, "bundle.tar"));
  bytes.write("WRITE", bytes.indexOf("Write three"));
  writeFileSync(join(at.folder, "bundle.tar"), bytes);
  expect(await at.run("import", "bundle.tar", "--as", "theirs", "--dry-run")).toMatchObject({ code: 1 });
  const { sessions } = await at.json<{ sessions: readonly { id: string }[] }>("sessions");
  expect(sessions.map(({ id }) => id)).toEqual(["work"]);
});

test("[CLI-22] interrupted in the middle of a repair, doctor leaves the original as it was and nothing beside it", async () => {
  const file = join(at.folder, "session.json");
  const call = (nth: number) => ({
    role: "assistant",
    content: `${"word ".repeat(200)}${nth}`,
    tool_calls: [{ id: `c${nth}`, type: "function", function: { name: "read", arguments: "{}" } }],
  });
  const broken = JSON.stringify(Array.from({ length: 12_000 }, (_, nth) => call(nth)));
  writeFileSync(file, broken);
  utimesSync(file, new Date(0), new Date(0));
  const child = spawn(process.execPath, [BIN, "doctor", file, "--fix", "--format", "openai-chat"], { cwd: at.folder });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const temporary = () => readdirSync(at.folder).filter((name) => name.startsWith(".session.json.holdfast-"));
  await expect.poll(temporary, { timeout: 50_000, interval: 5 }).toHaveLength(1); // it has begun to write
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(readFileSync(file, "utf8") === broken).toBe(true);
  expect(readdirSync(at.folder)).toEqual(["session.json"]);
});
