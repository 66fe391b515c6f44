import { clearLine, createInterface, cursorTo, type Interface } from "node:readline";
import type { Terminal } from "../command.ts";

/** What a person types, line by line, and Ctrl-C. In a pipe the same lines come from a file, and its end leaves. */
export class Talk {
  readonly #lines: Interface;
  readonly #typed: string[] = [];
  readonly #terminal: Terminal;
  #waiting: ((line: string | undefined) => void) | undefined;
  #ended = false;
  /** Called at every Ctrl-C. */
  interrupted: () => void = () => {};

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    const { stdin, stdout } = process;
    this.#lines = createInterface({
      input: stdin,
      output: stdout,
      terminal: stdin.isTTY === true && stdout.isTTY === true,
    });
    this.#lines.on("line", (line) => this.#heard(line));
    this.#lines.on("close", () => {
      this.#ended = true;
      this.#heard(undefined);
    });
    this.#lines.on("SIGINT", () => this.interrupted());
  }

  /**
   * The next line; undefined at the end of the input, or when the wait is given up. `afresh`: on a terminal, what was typed
   * before stays for later. It was no answer to this, which nobody had seen.
   */
  ask(
    prompt: string,
    { signal, afresh = false }: { readonly signal?: AbortSignal; readonly afresh?: boolean } = {},
  ): Promise<string | undefined> {
    const typed = afresh && this.#lines.terminal ? undefined : this.#typed.shift();
    if (typed !== undefined) return Promise.resolve(typed);
    if (this.#ended || signal?.aborted === true) return Promise.resolve(undefined);
    this.#lines.setPrompt(prompt);
    this.#lines.prompt(true);
    return new Promise((resolve) => {
      const done = (line: string | undefined) => {
        this.#waiting = undefined;
        signal?.removeEventListener("abort", gone);
        resolve(line);
      };
      const gone = () => done(undefined);
      this.#waiting = done;
      signal?.addEventListener("abort", gone);
    });
  }

  /** Lets something be written while somebody is asked: the question, and what was typed of its answer, stand below it. */
  aside(write: () => void): void {
    if (this.#waiting === undefined || !this.#lines.terminal) return write();
    clearLine(process.stdout, 0);
    cursorTo(process.stdout, 0);
    write();
    this.#lines.prompt(true);
  }

  /** Takes back what was typed and not sent, and says why. */
  clear(why: string): void {
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
    this.#terminal.out(`\n${why}`);
    this.#lines.prompt();
  }

  /** Gives up the wait of this moment: nobody is asked any more. */
  leave(): void {
    this.#ended = true;
    this.#heard(undefined);
  }

  close(): void {
    this.#lines.close();
  }

  #heard(line: string | undefined): void {
    if (this.#waiting !== undefined) this.#waiting(line);
    else if (line !== undefined) this.#typed.push(line);
  }
}
