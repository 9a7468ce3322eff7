// Runs Jest as a process of its own, on this terminal.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Resolves with Jest's exit code, or with 130 if a signal ended it. */
export function runJest(args, env = {}) {
  const temporary = createFolderInMemory();
  // Its workers inherit the larger young generation, which saves a twentieth of their CPU time.
  const jest = spawn(process.execPath, ['--min-semi-space-size=16', 'node_modules/jest/bin/jest.js', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...(temporary === undefined ? {} : { TMPDIR: temporary }), ...env },
  });
  const stop = (signal) => jest.kill(signal);
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return new Promise((resolve, reject) => {
    jest.on('error', reject);
    jest.on('close', (code, signal) => {
      process.off('SIGINT', stop).off('SIGTERM', stop);
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
      resolve(signal === null ? code : 130);
    });
  });
}

/** The files of a book are copied for most tests of it: in memory that takes half the time. Undefined: it has little room. */
function createFolderInMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize < ENOUGH_BYTES ? undefined : mkdtempSync(join(MEMORY, 'tollgate-tests-'));
  } catch {
    return undefined;
  }
}
