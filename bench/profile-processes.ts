import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

/** Where the processes of the running lane leave CPU profiles when they end; null: none is taken. */
let folder: string | null = null;

/** What Node has to be given so that a process of this name leaves a profile. */
export function profileArgs(name: string): string[] {
  return folder === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(folder, name)}`];
}

/** Runs a lane and has each service, and `load`, which is this process, write a `.cpuprofile` below the folder. */
export async function profileProcesses<T>(into: string, run: () => Promise<T>): Promise<T> {
  folder = into;
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  try {
    const result = await run();
    const { profile } = await session.post('Profiler.stop');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'load.cpuprofile'), JSON.stringify(profile));
    return result;
  } finally {
    session.disconnect();
    folder = null;
  }
}
