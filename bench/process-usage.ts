import { readFileSync } from 'node:fs';

/** The processes of a subject by role, e.g. `{ gateway: [1234], verifier: [1235, 1236] }`. */
export type Roles = Record<string, number[]>;

/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Starts a clock; the function it gives back says how many cores each process kept busy since, `load` being this one. */
export function watchProcessors(roles: Roles): () => Record<string, number> {
  const startedMs = performance.now();
  const before = readSeconds(roles);
  return () => {
    const seconds = (performance.now() - startedMs) / 1000;
    const after = readSeconds(roles);
    return Object.fromEntries(
      Object.keys(after).map((role) => [`${role} cores`, ((after[role] ?? 0) - (before[role] ?? 0)) / seconds]),
    );
  };
}

function readSeconds(roles: Roles): Record<string, number> {
  const own = process.cpuUsage();
  const seconds: Record<string, number> = { load: (own.user + own.system) / 1e6 };
  for (const [role, pids] of Object.entries(roles)) {
    seconds[role] = pids.reduce((sum, pid) => sum + readProcessSeconds(pid), 0);
  }
  return seconds;
}

/** User and system time since the process started. */
function readProcessSeconds(pid: number): number {
  // The fields after the program's name, which may hold spaces; user and system time are the 14th and 15th.
  const fields = readProc(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
