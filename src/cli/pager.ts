import { spawnSync } from "node:child_process";
import type { Terminal } from "./command.ts";

/** Lines that are shown together in the end: on the screen when they fit, in a pager otherwise, as git does it. */
export class Pages {
  readonly terminal: Terminal;
  readonly #below: Terminal;
  readonly #lines: string[] = [];

  constructor(terminal: Terminal) {
    this.#below = terminal;
    const out = (text: string) => {
      for (const line of text.split("\n")) this.#lines.push(line);
    };
    this.terminal = { ...terminal, out };
  }

  show(): void {
    const { rows = Number.POSITIVE_INFINITY, env } = this.#below;
    const pager = env["HOLDFAST_PAGER"] ?? env["PAGER"] ?? "less";
    if (this.#lines.length >= rows && pager !== "" && pager !== "cat" && this.#inPager(pager)) return;
    for (const line of this.#lines) this.#below.out(line);
  }

  /** False when there is none: then the lines are simply written. Leaving it early is no failure. */
  #inPager(pager: string): boolean {
    const { error, status } = spawnSync("/bin/sh", ["-c", pager], {
      input: `${this.#lines.join("\n")}\n`,
      stdio: ["pipe", "inherit", "inherit"],
      env: { LESS: "FRX", ...this.#below.env },
    });
    if (status === NO_SUCH_COMMAND) return false; // also when it was gone before all the lines were
    return error === undefined || (error as NodeJS.ErrnoException).code === "EPIPE";
  }
}

const NO_SUCH_COMMAND = 127;
