import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** A real second process that runs a module's text. It speaks by lines: `said("…")` waits for one. */
export interface Child {
  readonly process: ChildProcess;
  /** Resolves with the next line that starts so; rejects when the child ends first. */
  said(start: string): Promise<string>;
  tell(line: string): void;
  /** SIGKILL: nothing in the child gets to run any more. */
  kill(): Promise<void>;
  /** Its exit code, once it has ended by itself. */
  ended(): Promise<number | null>;
}

const SRC = new URL("../../src/", import.meta.url).href;

/** `import { x } from "@/stores/…"` in the text means our source. `say` and `told` are there without import. */
export function startChild(text: string): Child {
  const preamble = `
    import { createInterface } from "node:readline";
    const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const say = (line) => process.stdout.write(line + "\\n");
    const told = async () => (await lines.next()).value;
  `;
  const code = `${preamble}\n${text.replaceAll('"@/', `"${SRC}`)}`;
  const child = spawn(process.execPath, ["--input-type=module", "--no-warnings", "-e", code], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL")); // a test that failed half-way would wait for its child for ever
  const heard: string[] = [];
  const waiting: (() => void)[] = [];
  let over = false;
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    heard.push(line);
    wake();
  });
  const exited = once(child, "close").then(([code]) => {
    over = true;
    wake();
    return code as number | null;
  });
  return {
    process: child,
    async said(start) {
      for (;;) {
        const at = heard.findIndex((line) => line.startsWith(start));
        if (at !== -1) return heard.splice(at, 1)[0] as string;
        if (over) throw new Error(`the child ended without saying ${start}`);
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    ended() {
      child.stdin.end();
      return exited;
    },
  };
}
