import { existsSync, readFileSync } from 'node:fs';

/** The start time of a process, which distinguishes it from a later one with the same id; empty without /proc. */
export function readStartTime(pid) {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return '';
  const text = readFileSync(file, 'utf8');
  // The fields after the program's name, which is in parentheses and may hold spaces; the start is field 22 of all.
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

/** The process that the file names as `<pid> <start time>`, if it still runs. */
export function readRunningPid(pidFile) {
  const [pid, startTime] = readFileSync(pidFile, 'utf8').split(' ');
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if (error.code !== 'EPERM') return undefined;
  }
  return readStartTime(Number(pid)) === startTime ? Number(pid) : undefined;
}
