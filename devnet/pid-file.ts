import { rmSync, writeFileSync } from 'node:fs';

import { readRunningPid, readStartTime } from '../scripts/process-identity.mjs';

/** Writes this process into the file, unless a running process stands there: then false. Atomic between processes. */
export function claimPidFile(path: string): boolean {
  for (let tries = 0; tries < 2; tries++) {
    try {
      writeFileSync(path, `${process.pid} ${readStartTime(process.pid)}`, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (isHeld(path)) return false;
    try {
      rmSync(path, { force: true });
    } catch {
      // The file of another user, which this process must not remove.
      return false;
    }
  }
  return false;
}

function isHeld(path: string): boolean {
  try {
    return readRunningPid(path) !== undefined;
  } catch {
    // Released between the two reads.
    return false;
  }
}
