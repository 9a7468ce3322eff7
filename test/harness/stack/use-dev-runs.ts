import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { DevState } from '../../../tools/devnet/dev-state.js';
import { startChild, type Child } from '../../../tools/devnet/processes/child-process.js';

/** A start that takes long is no failure: a busy machine builds and migrates for minutes. Each test has a time limit. */
const STARTS_WITHIN_MS = 240_000;

export interface DevRuns {
  /** The state folder of the commands, a new one in each test. */
  readonly folder: string;
  /** A command in this clone, which ends with the test. */
  run: (command: string, args: readonly string[], settings?: NodeJS.ProcessEnv) => Promise<Child>;
  runScript: (script: 'dev' | 'demo', settings?: NodeJS.ProcessEnv, args?: readonly string[]) => Promise<Child>;
  /** What the devnet's dev.json says, as soon as it is there. */
  waitForState: (dev: Child, path?: string) => Promise<DevState>;
}

/** Registers Jest hooks that give each test of the file a state folder, and end what it starts. */
export function useDevRuns(): DevRuns {
  let folder = '';
  const children: Child[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-'));
  });

  afterEach(async () => {
    for (const child of children.splice(0)) await child.end('SIGTERM', 30_000);
    rmSync(folder, { recursive: true, force: true });
  });

  const run: DevRuns['run'] = async (command, args, settings = {}) => {
    const { PATH, HOME, TOLLGATE_OWN_SERVERS } = process.env;
    const env = { PATH, HOME, TOLLGATE_OWN_SERVERS, TOLLGATE_STATE_DIR: folder, ...settings };
    const child = await startChild({ name: [command, ...args].join(' '), command, args: [...args], env });
    children.push(child);
    return child;
  };
  return {
    get folder() {
      return folder;
    },
    run,
    runScript: (script, settings, args = []) => run('npm', ['run', script, ...args], settings),
    waitForState: async (dev, path = join(folder, 'dev.json')) => {
      const deadlineMs = Date.now() + STARTS_WITHIN_MS;
      while (!existsSync(path)) {
        if (dev.hasExited() || Date.now() > deadlineMs) throw new Error(`no ${path}:\n${dev.logs()}`);
        await sleep(50);
      }
      return JSON.parse(readFileSync(path, 'utf8')) as DevState;
    },
  };
}
