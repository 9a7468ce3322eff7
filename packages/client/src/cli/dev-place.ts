import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in which a running `npm run dev` has its dev.json. */
export const stateDirectory = (env: NodeJS.ProcessEnv): string => env['TOLLGATE_STATE_DIR'] || '.tollgate';

/** Why the folder's dev.json leads nowhere, and what to do: it is missing, or its process was killed. Null: it may be used. */
export function explainMissingDevnet(env: NodeJS.ProcessEnv): string | null {
  const folder = stateDirectory(env);
  const start = 'start it, or name the folder of its dev.json with TOLLGATE_STATE_DIR.';
  if (readText(join(folder, 'dev.json')) === null) return `No npm run dev runs in ${folder}: ${start}`;
  const pid = readText(join(folder, 'dev.pid'))?.split(' ')[0];
  if (pid === undefined || isAlive(Number(pid))) return null;
  return `The npm run dev in ${folder} was killed, and nothing answers there: ${start}`;
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
