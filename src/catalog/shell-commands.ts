import type { ShellCommand, ShellWord } from "./shell-words.ts";

/** Says why a command's words could change something, or nothing. It gets the words after the command's name. */
type Judge = (words: readonly ShellWord[]) => string | undefined;

const anything: Judge = () => undefined;

/** Short options by letter, long ones by whole name: an abbreviated `--out` is no option we know. */
interface Options {
  readonly short: string;
  readonly long?: readonly string[];
}

/**
 * Only options that are listed. A letter's value may be attached to it, so digits and a few signs are let through; a
 * word that begins with a glob could become any option, so it is refused.
 */
function only({ short, long = [] }: Options): Judge {
  return (words) => {
    for (const { text, globAt } of words) {
      if (globAt === 0) return `${text} could stand for an option`;
      if (!text.startsWith("-") || text === "-") continue;
      const known = text.startsWith("--")
        ? text === "--" || long.includes(text.slice(2).split("=", 1)[0] as string)
        : new RegExp(`^-[${short}\\d,.]+$`).test(text);
      if (!known) return `the option ${text} is not known to be harmless`;
    }
    return undefined;
  };
}

/** Of `sed`, printing lines by number. Its language can write files and run commands. */
const sed: Judge = (words) => {
  const [flag, script, ...files] = words;
  if (flag?.text !== "-n" || script === undefined || !/^\d+(,(\d+|\$))?p$/.test(script.text))
    return "of sed only printing lines by number (sed -n 1,20p) is known to be harmless";
  const odd = files.find(({ text, globAt }) => text.startsWith("-") || globAt === 0);
  return odd === undefined ? undefined : `the option ${odd.text} is not known to be harmless`;
};

const uniqOptions = only({ short: "cdufiswz" });
/** Its second name is a file that it writes, and behind the first, or behind --, what looks like an option may be a name. */
const uniq: Judge = (words) => {
  const first = words.findIndex(({ text }) => !/^-[^-]/.test(text));
  const [name, ...more] = first === -1 ? [] : words.slice(first);
  if (name?.text.startsWith("--") === true) return `${name.text} of uniq is not known to be harmless`;
  if (more.length > 0 || name?.globAt !== undefined) return "uniq writes its second file";
  return uniqOptions(words);
};

const dateOptions = only({ short: "uR", long: ["utc", "iso-8601"] });
/** A bare word sets the clock. */
const date: Judge = (words) =>
  words.some(({ text }) => !/^[-+]/.test(text)) ? "date sets the clock" : dateOptions(words);

const FIND_TESTS =
  "name iname path ipath wholename type maxdepth mindepth newer mtime mmin ctime cmin atime amin size empty print print0 prune not o a or and regex iregex perm user group xdev links inum ls quit depth follow L H P";
const findTests = new Set(FIND_TESTS.split(" ").map((test) => `-${test}`));
const find: Judge = (words) => {
  const odd = words.find(({ text, globAt }) => globAt === 0 || (text.startsWith("-") && !findTests.has(text)));
  return odd === undefined ? undefined : `${odd.text} of find is not known to be harmless`;
};

const RG_LONG =
  "files hidden no-ignore glob iglob type type-not type-list max-count json line-number no-line-number ignore-case case-sensitive smart-case files-with-matches files-without-match count count-matches word-regexp line-regexp fixed-strings context after-context before-context multiline pcre2 sort sortr no-heading heading color max-depth max-filesize stats trim vimgrep column only-matching invert-match regexp no-messages null with-filename no-filename";

const GIT_LONG =
  "oneline graph all decorate no-decorate stat shortstat numstat name-only name-status patch no-patch follow author committer since until after before grep max-count skip format pretty abbrev-commit abbrev no-abbrev-commit date relative-date reverse no-merges merges first-parent cached staged word-diff unified ignore-all-space ignore-space-change ignore-blank-lines diff-filter summary check raw porcelain short branch long untracked-files ignored show-toplevel show-prefix show-current is-inside-work-tree git-dir verify abbrev-ref symbolic-full-name symbolic tags always dirty match contains count left-right line-number ignore-case files-with-matches fixed-strings extended-regexp word-regexp others exclude-standard modified deleted stage full-name no-color color no-ext-diff no-textconv no-renames find-renames topo-order date-order boundary ancestry-path merge-base is-ancestor heads sort points-at perl-regexp and or not";
const gitReads = only({ short: "abcdefghilmnprstuvwzABCDEGHILMNPSUW", long: GIT_LONG.split(" ") });

/** Of the commands that also change: only their listing, and no names, because a name would be made. */
const listing =
  (...allowed: readonly string[]): Judge =>
  (words) => {
    const odd = words.find(({ text }) => !allowed.includes(text));
    return odd === undefined ? undefined : `${odd.text} is more than listing`;
  };

const GIT: Readonly<Record<string, Judge>> = {
  status: gitReads,
  log: gitReads,
  show: gitReads,
  diff: gitReads,
  blame: gitReads,
  grep: gitReads,
  shortlog: gitReads,
  describe: gitReads,
  "ls-files": gitReads,
  "ls-tree": gitReads,
  "rev-parse": gitReads,
  "rev-list": gitReads,
  "merge-base": gitReads,
  "show-ref": gitReads,
  "cat-file": gitReads,
  branch: listing("-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--verbose", "--show-current"),
  tag: listing("-l", "--list"),
  remote: listing("-v", "--verbose"),
  stash: (words) => (words.length === 1 && words[0]?.text === "list" ? undefined : "of git stash only list is known"),
};

/** In a format of git's; between the two may stand what says how it is set off from its neighbours. */
const SIGNATURE = /%[-+ ]?G/;

/** Only in the folder where the shell starts: another one may bring a configuration that names programs to run. */
const git: Judge = (words) => {
  const [name, ...more] = words[0]?.text === "--no-pager" ? words.slice(1) : words;
  if (name === undefined || !Object.hasOwn(GIT, name.text))
    return `git ${name?.text ?? "alone"} is not known to be harmless`;
  const signature = more.find(({ text }) => SIGNATURE.test(text));
  return signature === undefined ? GIT[name.text]?.(more) : `${signature.text} checks signatures with another program`;
};

/**
 * Commands that have no way to write, whatever their options. `printf` is missing because its -v and its %n set variables
 * of the shell, also PATH; `test`, because its -v can run a command.
 */
const HARMLESS =
  "cat head tail wc nl cut tr paste fold ls pwd cd stat du df basename dirname realpath readlink echo true false which type sha256sum sha1sum md5sum b2sum cksum cmp comm diff grep egrep fgrep whoami id uname seq jq";

const COMMANDS: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...HARMLESS.split(" ").map((name): [string, Judge] => [name, anything]),
  ["sed", sed],
  ["uniq", uniq],
  ["date", date],
  ["find", find],
  ["git", git],
  ["rg", only({ short: "nilcwvFegtTABCoSsuUPmHhN0x", long: RG_LONG.split(" ") })],
  ["sort", only({ short: "bdfghiMnRruVktscC", long: ["reverse", "numeric-sort", "unique", "key", "field-separator"] })],
  ["tree", only({ short: "adfishpLIP" })],
  ["file", only({ short: "biL", long: ["brief", "mime", "mime-type"] })],
]);

/** Why a line of commands could change something, or nothing when it is known that it cannot. */
export function judgeCommands(commands: readonly ShellCommand[]): string | undefined {
  if (commands.length === 0) return "there is no command";
  const names = new Set(commands.map(([name]) => name?.text));
  if (names.has("cd") && names.has("git")) return "git would run in another folder, with that folder's configuration";
  return commands.map(judgeCommand).find((fault) => fault !== undefined);
}

function judgeCommand([name, ...words]: ShellCommand): string | undefined {
  if (name === undefined) return "there is no command";
  if (name.globAt !== undefined) return `${name.text} could stand for any command`;
  const judge = COMMANDS.get(name.text);
  return judge === undefined ? `${name.text} is not known to be harmless` : judge(words);
}
