import type { Command, CommandBody, CommandEntry } from "../command.ts";
import { usage } from "../options.ts";

const SHELLS = { bash, zsh, fish } as const;

/** Of whatever the table holds: a command that is added there is completed, too. */
export function completionOf(entries: readonly CommandEntry[]): CommandBody {
  return {
    usage: "holdfast completion bash | zsh | fish",
    examples: [
      'eval "$(holdfast completion bash)"                     in ~/.bashrc',
      'holdfast completion zsh > "${fpath[1]}/_holdfast"      once',
      "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
    ],
    options: {},
    async run({ positionals, values }, terminal) {
      const [shell, surplus] = positionals;
      if (surplus !== undefined) throw usage(surplus, "name one shell only");
      if (shell === undefined) throw usage("SHELL", "name one: bash, zsh or fish");
      if (!Object.hasOwn(SHELLS, shell))
        throw usage("SHELL", `there is no script for ${shell}; name bash, zsh or fish`);
      const commands: Command[] = [];
      for (const entry of entries) commands.push({ ...entry, ...(await entry.load()) });
      const script = SHELLS[shell as keyof typeof SHELLS](commands);
      terminal.out(values["json"] === true ? JSON.stringify({ ok: true, shell, script }) : script);
      return 0;
    },
  };
}

/** What may follow a command, as flags; those that take a value are told apart, and those that take a file. */
interface Flag {
  readonly name: string;
  readonly help: string;
  readonly takes: "nothing" | "file" | "folder" | "text";
}

function flagsOf({ options }: Command): readonly Flag[] {
  const own = Object.entries(options).flatMap(([name, { type, value, help, hidden }]): Flag[] => {
    if (hidden === true) return [];
    const takes =
      type === "boolean"
        ? "nothing"
        : value === "FILE" || value === "OUT"
          ? "file"
          : value === "DIR"
            ? "folder"
            : "text";
    return [{ name, help, takes }];
  });
  return [
    ...own,
    { name: "json", help: "one JSON object", takes: "nothing" },
    { name: "help", help: "help", takes: "nothing" },
  ];
}

/** Whether a command takes a session, by its usage: `holdfast show SESSION`, `holdfast gc [SESSION]`. */
function takesSession({ usage: line }: Command): boolean {
  return /^holdfast \S+ \[?SESSION\b/.test(line);
}

/** Sessions are asked of the command itself, so that what is offered is what is there. */
const LIST = "holdfast sessions --limit 0 --json 2>/dev/null";

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => {
    const flags = flagsOf(command)
      .map(({ name }) => `--${name}`)
      .join(" ");
    return `    ${command.name}) flags="${flags}" ;;`;
  });
  const sessions = commands.filter(takesSession).map(({ name }) => name);
  const takers = (kind: Flag["takes"]) =>
    [...new Set(commands.flatMap(flagsOf).flatMap(({ name, takes }) => (takes === kind ? [`--${name}`] : [])))].join(
      "|",
    );
  return `# holdfast completion for bash
_holdfast_sessions() { ${LIST} | grep -o '"id":"[^"]*"' | cut -d'"' -f4; }
_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" flags=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} --help --version" -- "$current"))
    return
  fi
  case "$before" in
    ${takers("file")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
    ${takers("folder")}) COMPREPLY=($(compgen -d -- "$current")); return ;;
    ${takers("text")}) return ;;
  esac
  case "$command" in
${cases.join("\n")}
  esac
  if [ "\${current#-}" != "$current" ]; then COMPREPLY=($(compgen -W "$flags" -- "$current")); return; fi
  case "$command" in
    ${sessions.join("|")}) COMPREPLY=($(compgen -W "$(_holdfast_sessions)" -- "$current")) ;;
    completion) COMPREPLY=($(compgen -W "${Object.keys(SHELLS).join(" ")}" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}
complete -o filenames -F _holdfast holdfast`;
}

function zsh(commands: readonly Command[]): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, " ");
  const action = { nothing: "", file: ":file:_files", folder: ":folder:_files -/", text: ":value:" } as const;
  const cases = commands.map((command) => {
    const flags = flagsOf(command).map(({ name, help, takes }) => `'--${name}[${quoted(help)}]${action[takes]}'`);
    const rest = takesSession(command)
      ? "'*:session:_holdfast_sessions'"
      : command.name === "completion"
        ? `'1:shell:(${Object.keys(SHELLS).join(" ")})'`
        : "'*:file:_files'";
    return `    ${command.name}) _arguments ${[...flags, rest].join(" ")} ;;`;
  });
  return `#compdef holdfast
_holdfast_sessions() { local -a ids; ids=(\${(f)"$(${LIST} | grep -o '"id":"[^"]*"' | cut -d'"' -f4)"}); compadd -a ids; }
_holdfast() {
  if (( CURRENT == 2 )); then
    local -a commands; commands=(
${commands.map(({ name, summary }) => `      '${name}:${quoted(summary)}'`).join("\n")}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
# Loaded as a function the first time, this file is the function; sourced, it only says which one it is.
if [ "\${funcstack[1]}" = _holdfast ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi`;
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = ["# holdfast completion for fish", "complete -c holdfast -f"];
  for (const command of commands) {
    const { name, summary } = command;
    lines.push(`complete -c holdfast -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    const seen = `-n '__fish_seen_subcommand_from ${name}'`;
    for (const { name: flag, help, takes } of flagsOf(command)) {
      const value = { nothing: "", file: " -rF", folder: " -ra '(__fish_complete_directories)'", text: " -x" }[takes];
      lines.push(`complete -c holdfast ${seen} -l ${flag}${value} -d ${quoted(help)}`);
    }
    if (takesSession(command))
      lines.push(`complete -c holdfast ${seen} -a "(${LIST} | string match -ra '(?<=\\"id\\":\\")[^\\"]+')"`);
    if (name === "completion") lines.push(`complete -c holdfast ${seen} -a '${Object.keys(SHELLS).join(" ")}'`);
    if (name === "doctor") lines.push(`complete -c holdfast ${seen} -F`);
  }
  return lines.join("\n");
}
