import { rmSync } from "node:fs";

const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** A file that is being written goes with the process when somebody ends it. The answer says that it is finished. */
export function unfinished(path: string): () => void {
  const remove = () => rmSync(path, { force: true });
  const leave = (signal: keyof typeof SIGNALS) => process.exit(SIGNALS[signal]); // which lets the file go
  process.on("exit", remove);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, leave);
  return () => {
    process.off("exit", remove);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, leave);
  };
}
