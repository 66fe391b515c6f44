import { chmodSync, linkSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { git } from "../support/commands.ts";

/**
 * What a command may do to a workspace, item by item. Undone, every byte, mode, owner, link, shared file and time is as it
 * was, to the microsecond; kept, the tree is what a plain shell would have made of it; or it is refused, and the tree is as it was.
 */
export interface Item {
  readonly what: string;
  readonly before?: (root: string) => void;
  readonly line: string;
  /** With which drivers it is refused; with the others it is exact. */
  readonly refused?: readonly ("overlay" | "portable")[];
  /** Refused to an ordinary user, whom the system does not let read what cannot be read. */
  readonly unreadable?: true;
  /** Refused to an ordinary user by the overlay, whose files cannot be moved into a folder that is closed. */
  readonly closed?: true;
  /** Refused to an ordinary user by the overlay, which knows no other names of a file for them. */
  readonly names?: true;
  /** Its result has a time that it chose itself, which is kept. */
  readonly times?: true;
  /** What differs from run to run, because it tells of times or numbers of files. */
  readonly varies?: RegExp;
}

const BOTH = ["overlay", "portable"] as const;

/** The tree every item begins with. */
export function layOut(root: string): void {
  const put = (path: string, text: string | Buffer, mode = 0o644) => {
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  for (const folder of ["src", "src/deep", "docs", "empty"]) mkdirSync(join(root, folder));
  put("a.txt", "one\ntwo\n");
  put("b.txt", "bee\n");
  put("src/main.c", "int main;\n");
  put("src/deep/leaf", "leaf\n");
  put("docs/read me.md", "# words\n");
  put("secret", "s3cret\n", 0o600);
  put("run.sh", "#!/bin/sh\necho hi\n", 0o755);
  put("protected", "do not touch\n", 0o444);
  put("windows.txt", "one\r\ntwo\r\n");
  put("bytes", Buffer.from([0, 255, 10, 13, 0, 128]));
  symlinkSync("a.txt", join(root, "link"));
  symlinkSync("src", join(root, "to-folder"));
  for (const path of ["a.txt", "b.txt", "src/main.c", "secret"])
    utimesSync(join(root, path), 1_600_000_000, 1_600_000_000.25);
  chmodSync(join(root, "docs"), 0o750);
}

export const ITEMS: readonly Item[] = [
  { what: "a file is overwritten", line: "echo new > a.txt" },
  { what: "a file is appended to", line: "echo more >> a.txt" },
  { what: "a file is emptied", line: ": > a.txt" },
  { what: "a file is edited in place by a program", line: "sed -i s/one/ONE/ a.txt" },
  { what: "a file is replaced by a rename", line: "echo new > .tmp && mv .tmp a.txt" },
  { what: "a file is made", line: "echo fresh > fresh" },
  { what: "an empty file is made", line: ": > nothing" },
  { what: "a file is made in new folders", line: "mkdir -p x/y/z && echo deep > x/y/z/f" },
  { what: "a file is removed", line: "rm b.txt" },
  { what: "a file is renamed", line: "mv b.txt c.txt" },
  { what: "a file is moved into another folder", line: "mv b.txt src/deep/" },
  { what: "two files change places", line: "mv a.txt t && mv b.txt a.txt && mv t b.txt" },
  {
    what: "a file is written and brought back by the command itself",
    line: "cp -p a.txt k && echo x > a.txt && mv k a.txt",
  },
  { what: "a file becomes executable", line: "chmod 755 a.txt" },
  { what: "a file becomes private", line: "chmod 600 a.txt" },
  { what: "a file becomes unreadable", line: "chmod 000 a.txt", unreadable: true },
  { what: "a private file is written and stays private", line: "echo other > secret" },
  {
    what: "a write-protected file is replaced",
    line: "rm -f protected && echo forced > protected && chmod 444 protected",
  },
  { what: "a file is given the set-user bit", line: "chmod 4755 run.sh" },
  {
    what: "a file with the set-user bit is removed",
    before: (root) => chmodSync(join(root, "run.sh"), 0o4755),
    line: "rm -f run.sh",
  },
  { what: "an empty folder is made", line: "mkdir hollow" },
  { what: "an empty folder with a mode is made", line: "mkdir -m 700 hollow" },
  { what: "a folder that is open to all and sticky is made", line: "mkdir shared && chmod 1777 shared" },
  { what: "an empty folder is removed", line: "rmdir empty" },
  { what: "a folder's mode is changed", line: "chmod 700 src" },
  { what: "a folder's mode and a file in it are changed", line: "chmod 711 src && echo x > src/main.c" },
  { what: "a read-only folder with files is made", line: "mkdir ro && echo x > ro/f && chmod 555 ro" },
  {
    what: "something in a read-only folder is changed",
    before: (root) => chmodSync(join(root, "src"), 0o555),
    line: "chmod u+w src && echo x >> src/main.c && chmod 555 src",
    closed: true,
  },
  { what: "a tree is removed", line: "rm -rf src" },
  { what: "a folder is renamed", line: "mv src lib" },
  { what: "a folder is renamed and changed inside", line: "mv src lib && echo x > lib/main.c && rm lib/deep/leaf" },
  { what: "a folder is removed and made again", line: "rm -rf src && mkdir src && echo other > src/main.c" },
  { what: "two folders change places", line: "mv src t && mv docs src && mv t docs" },
  { what: "a folder becomes a file", line: "rm -rf src && echo file > src" },
  { what: "a file becomes a folder", line: "rm a.txt && mkdir a.txt && echo in > a.txt/in" },
  { what: "a link is made", line: "ln -s src/main.c here" },
  { what: "a link to nothing is made", line: "ln -s nowhere dangling" },
  { what: "a link that leaves the workspace is made", line: "ln -s /etc/hostname outside" },
  { what: "a link is pointed elsewhere", line: "ln -sfn b.txt link" },
  { what: "a link is removed", line: "rm link" },
  { what: "a link is replaced by a file", line: "rm link && echo file > link" },
  {
    what: "a link to a folder is replaced by a folder",
    line: "rm to-folder && mkdir to-folder && echo x > to-folder/f",
  },
  { what: "a file is written through a link", line: "echo through > link" },
  { what: "a file is written through a link to its folder", line: "echo through > to-folder/main.c" },
  { what: "a file is given a second name", line: "ln a.txt twin", names: true },
  { what: "two names of a new file are made", line: "echo x > one && ln one two" },
  {
    what: "a file with two names is written",
    before: (root) => linkSync(join(root, "a.txt"), join(root, "twin")),
    line: "echo both > twin",
    names: true,
  },
  {
    what: "a file with names in two folders is written, and both folders are changed",
    before: (root) => linkSync(join(root, "src/main.c"), join(root, "docs/twin")),
    line: "echo both > docs/twin && echo x > src/new && echo y > docs/new",
    names: true,
  },
  {
    what: "one of two names of a file is written and removed",
    before: (root) => linkSync(join(root, "a.txt"), join(root, "twin")),
    line: "echo both > a.txt && rm a.txt",
  },
  {
    what: "one of two names of a file is replaced",
    before: (root) => linkSync(join(root, "a.txt"), join(root, "twin")),
    line: "echo new > t && mv t twin",
    names: true,
  },
  {
    what: "one of two names of a file is removed",
    before: (root) => linkSync(join(root, "a.txt"), join(root, "twin")),
    line: "rm a.txt",
  },
  {
    what: "both names of a file are removed",
    before: (root) => linkSync(join(root, "a.txt"), join(root, "twin")),
    line: "rm a.txt twin",
  },
  {
    what: "lines that end as on Windows are kept",
    line: "printf '* text=auto\\n' > .gitattributes && printf 'x\\r\\n' >> windows.txt",
  },
  {
    what: "ignored files are made and changed",
    line: "echo '*.log' > .gitignore && echo 1 > x.log && mkdir n && echo 2 > n/y.log",
  },
  { what: "bytes that are no text are changed", line: "printf '\\000\\377\\001' > bytes" },
  { what: "a repository is made", line: "git init -q ." },
  {
    what: "a repository without commits is made in a folder",
    line: "mkdir inner && git -C inner init -q && echo x > inner/f",
  },
  {
    what: "something is committed in the workspace's repository",
    before: (root) => {
      git(root, "init", "-q");
      git(root, "add", "-A");
      git(root, "commit", "-qm", "first");
    },
    line: "git add -A && GIT_COMMITTER_DATE=2020-01-01T00:00:00Z git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m second --date=2020-01-01T00:00:00Z",
    varies: /"\.git\/index"/,
  },
  {
    what: "a nested repository with commits is removed",
    before: (root) => {
      mkdirSync(join(root, "inner"));
      git(join(root, "inner"), "init", "-q");
      writeFileSync(join(root, "inner/f"), "x");
      git(join(root, "inner"), "add", "-A");
      git(join(root, "inner"), "commit", "-qm", "first");
    },
    line: "rm -rf inner",
  },
  { what: "a file is only touched", line: "touch -d 2001-02-03T04:05:06Z a.txt", times: true },
  {
    what: "a file with an old time is made",
    line: "echo x > old && touch -d 2001-02-03T04:05:06.123456Z old",
    times: true,
  },
  { what: "a name with line breaks is used", line: "echo x > \"$(printf 'a\\nb')\"" },
  {
    what: "names with blanks, quotes, dashes and stars are used",
    line: "echo 1 > ' lead'; echo 2 > \"qu'ote\\\"s\"; echo 3 > -- -rf; echo 4 > 'st*r'",
  },
  { what: "names beyond ASCII are used", line: "echo 1 > 'naïve'; echo 2 > '文件'; echo 3 > '🦀'" },
  { what: "two names that differ in case are used", line: "echo 1 > Case; echo 2 > case" },
  { what: "the longest name is used", line: "echo x > \"$(printf '%0255d' 7)\"" },
  { what: "a deep path is made", line: "d=.; for n in $(seq 40); do d=$d/n$n; done; mkdir -p $d && echo x > $d/f" },
  {
    what: "a file with holes is made",
    line: "truncate -s 5M holes && printf x | dd of=holes bs=1 seek=3000000 conv=notrunc 2>/dev/null",
  },
  { what: "a large file is made", line: "head -c 6000000 /dev/zero | tr '\\0' 'x' > large" },
  {
    what: "a large file is changed in the middle",
    before: (root) => writeFileSync(join(root, "large"), Buffer.alloc(5_000_000, "large ")),
    line: "printf CHANGED | dd of=large bs=1 seek=2500000 conv=notrunc 2>/dev/null",
  },
  { what: "many files are made", line: "mkdir many; for n in $(seq 300); do echo $n > many/$n; done" },
  {
    what: "everything is removed",
    line: "find . -mindepth 1 -path ./.holdfast -prune -o -mindepth 1 -print0 | sort -rz | xargs -0 rm -rf",
  },
  { what: "a pipe is made", line: "mkfifo pipe", refused: BOTH },
  {
    what: "a socket is made",
    line: 'node -e \'require("net").createServer().listen("sock",()=>process.kill(process.pid,9))\'; true',
    refused: BOTH,
  },
  { what: "a name that is no text is made", line: "echo x > \"$(printf 'a\\377b')\"", refused: BOTH },
  { what: "the mode of the workspace itself is changed", line: "chmod 711 .", refused: BOTH },
  {
    what: "a pipe that is there is left alone",
    before: (root) => void execFileSync("mkfifo", [join(root, "pipe")]),
    line: "echo new > a.txt",
    refused: ["portable"],
  },
  {
    what: "a pipe that is there is removed",
    before: (root) => void execFileSync("mkfifo", [join(root, "pipe")]),
    line: "rm pipe",
    refused: BOTH,
  },
  {
    what: "a name that is no text, and is there, is left alone",
    before: (root) => writeFileSync(Buffer.from(`${root}/a\xffb`, "latin1"), "x"),
    line: "echo new > a.txt",
    refused: ["portable"],
  },
  { what: "a link to what has no name in text is made", line: "ln -s \"$(printf 'a\\377b')\" odd", refused: BOTH },
  {
    what: "a link to what has no name in text, and is there, is left alone",
    before: (root) => symlinkSync(Buffer.from("a\xffb", "latin1"), join(root, "odd")),
    line: "echo new > a.txt",
    refused: ["portable"],
  },
  {
    what: "a link to what has no name in text, and is there, is removed",
    before: (root) => symlinkSync(Buffer.from("a\xffb", "latin1"), join(root, "odd")),
    line: "rm odd",
    refused: BOTH,
  },
];
