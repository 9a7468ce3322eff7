import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Named here, because a program may use this module without the types of Node. */
type Environment = Readonly<Record<string, string | undefined>>;

/** The folder in which a running `npm run dev` has its dev.json. */
export const stateDirectory = (env: Environment): string => env['TOLLGATE_STATE_DIR'] || '.tollgate';

/** Why the folder's dev.json leads nowhere, and what to do: it is missing, or its process was killed. Null: it may be used. */
export function explainMissingDevnet(env: Environment): string | null {
  const folder = stateDirectory(env);
  const start = 'start it, or name the folder of its dev.json with TOLLGATE_STATE_DIR.';
  if (readText(join(folder, 'dev.json')) === null) return `No npm run dev runs in ${folder}: ${start}`;
  if (!wasDevnetKilled(folder)) return null;
  return `The npm run dev in ${folder} was killed, and nothing answers there: ${start}`;
}

/** Whether the folder's dev.pid, `<pid> <start time>`, names a process that has ended. Each `npm run dev` removes its own. */
export function wasDevnetKilled(folder: string): boolean {
  const text = readText(join(folder, 'dev.pid'));
  if (text === null) return false;
  const [pid, startTime] = text.split(' ');
  if (!isAlive(Number(pid))) return true;
  const found = readStartTime(Number(pid));
  return found !== null && found !== startTime;
}

/** Tells a process from a later one with the same id; null where the system does not say. */
function readStartTime(pid: number): string | null {
  const text = readText(`/proc/${pid}/stat`);
  // After the program's name, which is in parentheses and may hold spaces; the start is field 22 of all.
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
