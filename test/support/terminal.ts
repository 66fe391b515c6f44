import { type ChildProcess, spawn } from "node:child_process";

/** A command in a pseudo-terminal of 80 columns, which script(1) brings. */
export interface OpenTerminal {
  readonly child: ChildProcess;
  /** Waits until these words appear behind everything that was waited for before. */
  sees(words: string): Promise<void>;
  /** Types, and waits until these words are the answer. */
  types(keys: string, words: string): Promise<void>;
  readonly ended: Promise<number | null>;
  /** Everything that was shown so far. */
  readonly screen: string;
}

export function openTerminal(
  argv: readonly string[],
  {
    cwd,
    env = {},
    rows = 24,
  }: { readonly cwd: string; readonly env?: Readonly<Record<string, string>>; readonly rows?: number },
): OpenTerminal {
  const line = `stty cols 80 rows ${rows}; exec ${argv.map((word) => `'${word}'`).join(" ")}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", TERM: "xterm", ...env },
  });
  let screen = "";
  let from = 0;
  const hearers = new Set<() => void>();
  child.stdout.on("data", (piece: Buffer) => {
    screen += piece.toString("utf8");
    for (const hear of hearers) hear();
  });
  // Closed, not only gone: what it said last may still be on its way.
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const sees = (words: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const found = screen.indexOf(words, from);
        if (found === -1) return;
        from = found + words.length;
        hearers.delete(look);
        resolve();
      };
      hearers.add(look);
      void ended.then(() => reject(new Error(`no ${JSON.stringify(words)} in ${JSON.stringify(screen.slice(from))}`)));
      look();
    });
  const types = (keys: string, words: string) => {
    from = screen.length;
    child.stdin.write(keys);
    return sees(words);
  };
  return {
    child,
    sees,
    types,
    ended,
    get screen() {
      return screen;
    },
  };
}
