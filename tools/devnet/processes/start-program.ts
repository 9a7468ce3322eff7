import { join } from 'node:path';

import { startChild } from './child-process.js';
import { repositoryRoot } from './repository.js';

/** Let Node run TypeScript and import `.lua` files, also those of another checkout. */
export const SOURCE_LOADERS = ['--import', 'tsx', '--import', join(repositoryRoot(), 'scripts', 'lua-modules.mjs')];

export interface Program {
  url: string;
  pid: number;
  /** From the start of the process to its ready line. */
  startUpMs: number;
  stop: () => Promise<void>;
}

/**
 * Starts Node with a program of this repository and its arguments, and waits for its line `ready <url>`. It inherits
 * only PATH.
 */
export async function startProgram(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Program> {
  const startedMs = performance.now();
  const isSource = args.some((arg) => arg.endsWith('.ts'));
  const child = await startChild({
    name: args.join(' '),
    command: process.execPath,
    args: [...(isSource ? SOURCE_LOADERS : []), ...args],
    cwd: repositoryRoot(),
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
  });
  const stop = async () => void (await child.end('SIGTERM', 3000));
  try {
    const [, url = ''] = await child.waitForLine(/^ready (\S+)/, 180_000);
    return { url, pid: child.pid, startUpMs: performance.now() - startedMs, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
