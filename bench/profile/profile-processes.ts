import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { busyMs, drawFlameGraph } from './draw-flame-graph.js';

/** Where the processes of the running lane leave their profiles; null: none is taken. */
let profilesFolder: string | null = null;

/** What Node has to be given so that a process of this name leaves a profile when it ends. */
export function profileArgs(name: string): string[] {
  if (profilesFolder === null) return [];
  return ['--cpu-prof', '--cpu-prof-interval=500', `--cpu-prof-dir=${join(profilesFolder, name)}`];
}

/** Runs a lane and writes a flame graph of each kind of process, `load` being this one, into the folder. */
export async function profileProcesses<T>(lane: string, folder: string, run: () => Promise<T>): Promise<T> {
  profilesFolder = mkdtempSync(join(tmpdir(), 'tollgate-profiles-'));
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 500 });
  await session.post('Profiler.start');
  try {
    const result = await run();
    const { profile } = await session.post('Profiler.stop');
    mkdirSync(folder, { recursive: true });
    for (const [name, taken] of [...readProfiles(profilesFolder), ['load', profile] as const]) {
      const title = `${lane}: ${name}, ${(busyMs(taken) / 1000).toFixed(1)} s of processor time`;
      writeFileSync(join(folder, `${lane}-${name}.svg`), drawFlameGraph(title, taken));
    }
    return result;
  } finally {
    session.disconnect();
    rmSync(profilesFolder, { recursive: true, force: true });
    profilesFolder = null;
  }
}

/** Reads, for each kind of process, the profile of the one that worked most. */
function readProfiles(folder: string): [name: string, profile: Profiler.Profile][] {
  return readdirSync(folder).map((name) => {
    const profiles = readdirSync(join(folder, name)).map(
      (file) => JSON.parse(readFileSync(join(folder, name, file), 'utf8')) as Profiler.Profile,
    );
    return [name, profiles.reduce((most, profile) => (busyMs(profile) > busyMs(most) ? profile : most))];
  });
}
