/** As a shell tells a command that was ended by a signal. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Somebody has ended the command. It is thrown, so that whatever is open is closed on the way out. */
export class Interrupted extends Error {
  readonly exitCode: (typeof SIGNALS)[keyof typeof SIGNALS];

  constructor(signal: keyof typeof SIGNALS) {
    super(`ended by ${signal}`);
    this.name = "Interrupted";
    this.exitCode = SIGNALS[signal];
  }
}

/**
 * Works until it is done or somebody ends the command. What was begun then is left where it stands, as a killed process
 * would leave it; only work that can take itself back is waited for (`tidies`), and is told by its signal.
 */
export async function untilInterrupted<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { tidies = false }: { readonly tidies?: boolean } = {},
): Promise<T> {
  const told = new AbortController();
  let leave: (why: Interrupted) => void = () => {};
  const left = new Promise<never>((_, reject) => {
    leave = reject;
  });
  const heard = (signal: NodeJS.Signals) => {
    const why = new Interrupted(signal as keyof typeof SIGNALS);
    told.abort(why);
    if (!tidies) leave(why);
  };
  for (const signal of Object.keys(SIGNALS)) process.once(signal, heard); // the second one ends the process at once
  try {
    return await Promise.race([work(told.signal), left]);
  } finally {
    for (const signal of Object.keys(SIGNALS)) process.off(signal, heard);
  }
}
