/** State of the whole process: set by the first signal. */
let stopping = false;

/** True from the first stop signal on; readiness then fails, so that no new traffic is routed here. */
export function isStopping(): boolean {
  return stopping;
}

export function markStopping(): void {
  stopping = true;
}
