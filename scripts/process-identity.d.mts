/** Writes this process into the file, unless a running process stands there: then false. Atomic between processes. */
export function claimPidFile(path: string): boolean;
/** A new folder `<kind>-<process id>-<random>`. Those of its kind whose process has ended are removed. */
export function createOwnFolder(parent: string, kind: string): string;
