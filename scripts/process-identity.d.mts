export function isRunning(pid: number): boolean;
/** Writes this process into the file, unless a running process stands there: then false. Atomic between processes. */
export function claimPidFile(path: string): boolean;
