/**
 * This process: what commands inherit of it, and the right to signal them. Not `node:process`: importing that opens
 * standard input, and whoever had meant to read it himself finds that it no longer waits.
 */
// oxlint-disable-next-line no-restricted-globals -- the room that starts processes is the one that must know its own
export const here: Pick<NodeJS.Process, "env" | "pid" | "kill"> = process;
