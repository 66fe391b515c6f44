/** A lock the operating system frees when its holder dies: no expiry, no clock, no false take-over. */
export interface HeldLock extends AsyncDisposable {
  release(): Promise<void>;
}

export interface OsLocks {
  /** The lock, or undefined when another holder is alive. Never waits. */
  tryAcquire(name: string): Promise<HeldLock | undefined>;
}
