import { existsSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The start time of a process, which distinguishes it from a later one with the same id; empty without /proc. */
function readStartTime(pid) {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return '';
  const text = readFileSync(file, 'utf8');
  // The fields after the program's name, which is in parentheses and may hold spaces; the start is field 22 of all.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** The process that the file names as `<pid> <start time>`, if it still runs. */
export function readRunningPid(pidFile) {
  const [pid, startTime] = readFileSync(pidFile, 'utf8').split(' ');
  return isRunning(Number(pid)) && readStartTime(Number(pid)) === startTime ? Number(pid) : undefined;
}

/** Writes this process into the file, unless a running process stands there: then false. */
export function claimPidFile(path) {
  // Linked under its name only when it is written, so no other process can read it empty and take its writer for dead.
  const written = `${path}.${process.pid}`;
  writeFileSync(written, `${process.pid} ${readStartTime(process.pid)}`, { mode: 0o600 });
  try {
    return linkUnlessHeld(written, path);
  } finally {
    rmSync(written, { force: true });
  }
}

function linkUnlessHeld(written, path) {
  for (let tries = 0; tries < 2; tries++) {
    try {
      linkSync(written, path);
      return true;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
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

function isHeld(path) {
  try {
    return readRunningPid(path) !== undefined;
  } catch {
    // Released between the two reads.
    return false;
  }
}

/** A new folder named after this process, which removes it; those of processes that were killed are removed here. */
export function createOwnFolder(parent, kind) {
  for (const name of readdirSync(parent)) {
    const [, found, owner] = /^(.+)-(\d+)-\w+$/.exec(name) ?? [];
    if (found === kind && !isRunning(Number(owner))) removeIfAllowed(join(parent, name));
  }
  return mkdtempSync(join(parent, `${kind}-${process.pid}-`));
}

function removeIfAllowed(path) {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Another user's, or another process removes it at this moment.
  }
}
