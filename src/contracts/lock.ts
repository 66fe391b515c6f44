/** A lock that the operating system frees when its holder dies: no expiry, no clock, no mistaken take-over. */
export interface HeldLock extends AsyncDisposable {
  release(): Promise<void>;
}

/** Locks of the operating system. */
export interface OsLocks {
  /** Takes the lock, or returns undefined when a living process holds it. Never waits. */
  tryAcquire(name: string): Promise<HeldLock | undefined>;
}
