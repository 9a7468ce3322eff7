import { join } from 'node:path';

import { startChild, type Child } from '../tools/devnet/processes/child-process.js';
import { repositoryRoot } from '../tools/devnet/processes/repository.js';

/** Let Node run TypeScript and import `.lua` files, also those of another checkout. */
export const SOURCE_LOADERS = ['--import', 'tsx', '--import', join(repositoryRoot(), 'scripts', 'lua-modules.mjs')];

export interface Program {
  url: string;
  pid: number;
  /** From the start of the process to its ready line. */
  startUpMs: number;
  logs: () => string;
  stop: () => Promise<void>;
}

/** Starts a Node program of this folder (`programs/x.ts` or `peers/x.mjs`) and waits for its line `ready <url>`. */
export async function startProgram(file: string, args: string[], env: Record<string, string>): Promise<Program> {
  const startedMs = performance.now();
  const child: Child = await startChild({
    name: [file, ...args].join(' '),
    command: process.execPath,
    args: [...(file.endsWith('.ts') ? SOURCE_LOADERS : []), join(repositoryRoot(), 'bench', file), ...args],
    env: { ...process.env, NODE_ENV: 'production', ...env },
  });
  try {
    const [, url = ''] = await child.waitForLine(/^ready (\S+)/, 60_000);
    return {
      url,
      pid: child.pid,
      startUpMs: performance.now() - startedMs,
      logs: () => child.logs(),
      stop: async () => void (await child.end('SIGTERM', 2000)),
    };
  } catch (error) {
    await child.end('SIGKILL');
    throw error;
  }
}
