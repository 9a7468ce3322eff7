import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/**
 * CPU time of this process and of all that it started, in a line; undefined on a system without /proc. A process counts
 * once its parent has waited for it, as in `time` of bash.
 */
export function describeCpuTime() {
  let stat;
  try {
    stat = readFileSync('/proc/self/stat', 'utf8');
  } catch {
    return undefined;
  }
  // The name, in brackets, may hold spaces. After it: utime, stime, cutime and cstime are the 12th to the 15th.
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  const [user, system] = [ticks[0] + ticks[2], ticks[1] + ticks[3]].map((sum) => sum / TICKS_PER_SECOND);
  return `CPU: ${(user + system).toFixed(0)} s (user ${user.toFixed(0)} s, system ${system.toFixed(0)} s)`;
}
