import { rmSync } from "node:fs";

/** What is being made goes with the process, whoever ends it. The answer says that it is finished. */
export function unfinished(path: string): () => void {
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.on("exit", remove);
  return () => void process.off("exit", remove);
}
