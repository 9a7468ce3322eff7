/** One state of the process, not of a module: set by the first signal, never unset. */
let stopping = false;

/** True from the first stop signal on: readiness fails, so that no new traffic is sent here. */
export function isStopping(): boolean {
  return stopping;
}

export function markStopping(): void {
  stopping = true;
}
