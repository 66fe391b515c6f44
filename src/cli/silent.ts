import type { Terminal } from "./command.ts";

/** A terminal that shows nothing and says nothing: for whoever runs a command for what it answers. */
export const SILENT: Terminal = {
  out: () => {},
  err: () => {},
  write: () => {},
  onInterrupt: () => () => {},
  forPeople: false,
  cwd: "/",
  env: {},
  async *input() {},
};
