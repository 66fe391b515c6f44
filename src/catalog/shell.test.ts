import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { classifyShell, shellReadOnly } from "./shell.ts";
import { readShell } from "./shell-words.ts";

const READS = [
  "ls",
  "ls -la src && cat package.json",
  "cat a.txt | head -20 | wc -l",
  "grep -rn 'foo bar' src; grep -n \"end$\" a",
  'grep -E "a|b" -- -file-',
  "find . -name '*.ts' -type f -maxdepth 2",
  "find . \\( -name a -o -name b \\) ! -path './x/*' -print",
  "rg -n --hidden 'x y' src/*.ts",
  "rg --files -g '*.md'",
  "git status",
  "git --no-pager log --oneline -5",
  "git log -p --since=yesterday -- src/a.ts",
  "git diff HEAD~1 --stat",
  "git show HEAD:src/a.ts",
  "git branch -a",
  "git stash list",
  "sed -n 1,20p a.txt",
  "sed -n '5,$p' a.txt b.txt",
  "sort -k2,2n a.txt | uniq -c",
  "cd src\nls",
  "ls \\\n  -la",
  "echo 'a > b; $(rm x)' \"c\" d\\;e",
  "date +%s",
  "tree -L 2 -I node_modules",
  "jq '.a[] | select(.b > 1)' a.json",
  "cat ./*.md",
  "du -sh ~ && df",
];

const CHANGES = [
  // what the names say
  "rm -rf x",
  "touch a",
  "tee a",
  "npm test",
  "node -e 1",
  "./ls",
  "/bin/ls",
  "",
  "   ",
  "; ;",
  // redirection
  "echo x > a",
  "cat a >> b",
  "ls 2>/dev/null",
  "cat < a",
  "cat <<E\nx\nE",
  "ls >& a",
  "echo x >| a",
  // substitution, expansion, grouping
  "cat $(rm x)",
  "cat `rm x`",
  'echo "$(rm x)"',
  'echo "`rm x`"',
  "cat $HOME/a",
  'echo "$X"',
  "echo ${X}",
  "echo $'x'",
  "cat <(rm x)",
  "(rm x)",
  "{ rm x; }",
  "ls {a,b}",
  // joins
  "ls & rm x",
  "ls |& tee x",
  "ls && rm x",
  "ls || rm x",
  "ls | sh",
  "ls; rm x",
  "ls\nrm x",
  "ls \\\n&& rm x",
  // names that run others
  "env ls",
  "xargs rm",
  "sudo ls",
  "time ls",
  "command ls",
  "eval ls",
  ". a",
  "X=1 ls",
  "PATH=. ls",
  "PATH=.; ls",
  "! ls",
  "if true; then rm x; fi",
  "ls() rm",
  "l* a",
  "awk 1 a",
  "[ -v 'a[$(rm x)]' ]",
  "test -v 'a[$(rm x)]'",
  "printf -v PATH /evil; ls",
  "printf 'abc%n' PATH; ls",
  "printf x",
  // a comment hides a quote from the shell, not from a naive reader
  "echo # '\nrm x #'",
  // options that write or run
  "find . -delete",
  "find . -exec rm {} +",
  "find . -fprint a",
  "find . -ok rm",
  "find . *",
  "sort -o a b",
  "sort -oa b",
  "sort b -o a",
  "sort --output=a b",
  "sort --out=a b",
  "sort --compress-program=sh a",
  "sort *",
  "uniq a b",
  "uniq a -",
  "uniq -- -c out",
  "uniq -- a",
  "uniq a -d",
  "uniq - -c",
  "uniq *",
  "sed -i s/a/b/ x",
  "sed s/a/b/w x",
  "sed -n 1p x -i",
  "sed -n '1w x' a",
  "sed -n 1e a",
  "rg --pre sh x",
  "rg --hostname-bin=sh x",
  "rg -z x",
  "tree -o a",
  "tree -R -L 1",
  "file -C -m a",
  "date 01010000",
  "date -s now",
  "git commit -m x",
  "git checkout .",
  "git branch new",
  "git branch -D x",
  "git branch --list -D x",
  "git tag v1",
  "git stash",
  "git remote add a b",
  "git config a.b c",
  "git -c core.pager=sh log",
  "git -C evil status",
  "cd evil && git status",
  "git --git-dir=evil log",
  "git diff --output=a",
  "git diff --ext-diff",
  "git grep -Osh x",
  "git grep --open-files-in-pager=sh x",
  "git log --format=%G?",
  "git log --format=%+G?",
  "git show --pretty=%-GK",
  "git log '--format=% GS'",
  "git cat-file --filters HEAD:a",
  "git",
  // bytes that shells and people see differently
  "ls\u00a0-la",
  "ls\rrm x",
  "cat 'a\u0000b'",
  "ls 'unclosed",
  'ls "unclosed',
  "ls \\",
];

describe("a shell command", () => {
  test.each(READS)("[MODE-5] %j is known to change nothing", (command) => {
    expect(classifyShell(command)).toEqual({ readOnly: true });
  });

  test.each(CHANGES)("[MODE-5] %j could change something, and the words say why", (command) => {
    const verdict = classifyShell(command);
    expect(verdict.readOnly).toBe(false);
    if (!verdict.readOnly) expect(verdict.why).toMatch(/^.{5,}\. Use plain reading commands/s);
  });

  test("[MODE-5] the command is found where the tool says it is", () => {
    expect(shellReadOnly()({ command: "ls" })).toEqual({ readOnly: true });
    expect(shellReadOnly((input) => (input as { line: string }).line)({ line: "rm x" }).readOnly).toBe(false);
    for (const odd of [null, undefined, "ls", { command: ["ls"] }]) expect(shellReadOnly()(odd).readOnly).toBe(false);
    expect(shellReadOnly((input) => (input as { line: string }).line)({ line: "ls", timeoutMs: 5 }).readOnly).toBe(
      true,
    );
  });

  test("[MODE-5] an argument that the proof does not know could change where and how the command runs", () => {
    const steered = [
      { command: "git status", cwd: "evil" },
      { command: "git diff", env: { GIT_EXTERNAL_DIFF: "rm" } },
      { command: "ls", stdin: "" },
    ];
    for (const input of steered)
      expect(shellReadOnly()(input)).toMatchObject({ readOnly: false, why: expect.stringMatching(/not known/) });
    expect(shellReadOnly()(Object.create({ command: "ls" })).readOnly).toBe(false);
  });

  const home = mkdtempSync(join(tmpdir(), "holdfast-shell-"));
  afterAll(() => rmSync(home, { recursive: true }));

  test.each(["bash", "dash"].filter(isInstalled))(
    "[MODE-5] whatever is put together from harmful and harmless pieces, what passes changes nothing in %s",
    (shell) => {
      // Commands that are on the list, with operands, options and joins that are sometimes not harmless there.
      const word = fc.constantFrom("a", "b", "X", "-", "--", "-o", "-c", "-d", "1p", ".", "*");
      const simple = fc
        .tuple(fc.constantFrom(...NAMES), fc.array(word, { maxLength: 3 }))
        .map(([name, words]) => [name, ...words].join(" "));
      const joint = fc.constantFrom(" | ", "; ", " && ", " || ", "\n", " > ", " & ", " $(", " `", " #");
      const line = fc
        .array(fc.tuple(simple, fc.oneof({ weight: 9, arbitrary: fc.constantFrom("; ", " | ") }, joint)), {
          minLength: 1,
          maxLength: 2,
        })
        .map((parts) => parts.flat().slice(0, -1).join(""));
      let [passed, tried] = [0, 0];
      fc.assert(
        fc.property(line, (command) => {
          tried += 1;
          if (!classifyShell(command).readOnly) return;
          passed += 1;
          expect([command, leftBehind(shell, command)]).toEqual([command, BEFORE]);
        }),
        { numRuns: 600 },
      );
      expect(passed).toBeGreaterThan(tried / 4); // a classifier that lets nothing through proves nothing
    },
    60_000,
  );

  /** Files and variables after a command, in a folder of its own. */
  function leftBehind(shell: string, command: string) {
    for (const name of readdirSync(home)) rmSync(join(home, name));
    for (const [name, text] of BEFORE.files) writeFileSync(join(home, name), text);
    const run = { cwd: home, input: "in\n", timeout: 5_000, env: { PATH: "/usr/bin:/bin" } };
    // Behind the command, in the same shell: what it did to the shell's own variables shows.
    const { stdout } = spawnSync(shell, ["-c", `${command}\necho "left:$X"`], run);
    const variable = /left:(.*)\n$/.exec(stdout.toString())?.[1];
    const files = readdirSync(home).map((name) => [name, readFileSync(join(home, name), "utf8")]);
    return { files, variable };
  }
});

const BEFORE = {
  files: [
    ["-o", "two\n"],
    ["a", "one\none\n"],
  ] as const,
  variable: "",
};

const NAMES = ["ls", "cat", "echo", "sort", "uniq", "find", "sed -n", "grep", "printf %n", "touch"];

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ["-c", "true"]).status === 0;
}

test("[MODE-5] what a shell reads otherwise than it looks is not taken for a look", () => {
  expect(readShell('cat "a\\"b" "c\\\\d" "e\\\nf" "g\\h" "end$"')).toEqual({
    ok: true,
    commands: [
      ["cat", 'a"b', "c\\d", "ef", "g\\h", "end$"].map((text) => expect.objectContaining({ text }) as unknown),
    ],
  });
  for (const [line, why] of [
    ['cat "a\0b"', "an invisible character"],
    ["cat 'a\0b'", "an invisible character"],
    ['cat "open', "a quote is not closed"],
    ["cat a\u00a0b", "an invisible character"],
    ["ls # not seen", "a comment"],
    ['cat "`id`"', ""],
  ] as const)
    expect(readShell(line)).toMatchObject({ ok: false, why: expect.stringContaining(why) });
});
