import { execFileSync } from "node:child_process";

/** As a bench runs it: nobody's name, no gc in between. */
export function git(root: string, args: readonly string[]): string {
  const identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0"];
  return execFileSync("git", ["-C", root, ...identity, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    maxBuffer: 1 << 28,
  }).trim();
}

/** A git directory elsewhere. */
export const shadow = (root: string, beside: string) => [`--git-dir=${beside}`, `--work-tree=${root}`];
