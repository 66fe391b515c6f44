import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifyShell, shellReadOnly } from "./shell.ts";

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
  });

  test("[MODE-5] whatever is put together from harmful and harmless pieces, what passes changes nothing when it is run", () => {
    const pieces = fc.constantFrom(
      "ls",
      "cat a",
      "rm a",
      "echo",
      "touch b",
      "sort a",
      "-o",
      "b",
      "find .",
      "-delete",
      "'",
      '"',
      "\\",
      "#",
      "\n",
      " ",
      ";",
      "|",
      "&",
      "&&",
      ">",
      ">>",
      "<",
      "$(",
      ")",
      "`",
      "$X",
      "{",
      "}",
      "*",
      "?",
      "-n",
      "sed",
      "1p",
      "uniq",
      "printf",
      "-v",
    );
    const home = mkdtempSync(join(tmpdir(), "holdfast-shell-"));
    try {
      fc.assert(
        fc.property(fc.array(pieces, { minLength: 1, maxLength: 8 }), fc.constantFrom("", " "), (words, glue) => {
          const command = words.join(glue);
          if (!classifyShell(command).readOnly) return;
          for (const name of readdirSync(home)) rmSync(join(home, name));
          writeFileSync(join(home, "a"), "one\n");
          writeFileSync(join(home, "-o"), "two\n");
          const before = stateOf(home);
          try {
            execFileSync("/bin/sh", ["-c", command], {
              cwd: home,
              stdio: "ignore",
              timeout: 5_000,
              env: { PATH: "/usr/bin:/bin" },
            });
          } catch {
            // that it fails is no matter: what counts is what it left behind
          }
          expect(stateOf(home)).toEqual(before);
        }),
        { numRuns: 400 },
      );
    } finally {
      rmSync(home, { recursive: true });
    }
  });
});

function stateOf(folder: string) {
  return readdirSync(folder).map((name) => {
    const path = join(folder, name);
    return [name, readFileSync(path, "utf8"), statSync(path).mode];
  });
}
