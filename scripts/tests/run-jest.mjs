// Runs Jest as a process of its own, on this terminal.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createOwnFolder } from '../process-identity.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 4 * 2 ** 30;
/** The last one comes when the terminal is closed. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

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
  for (const signal of SIGNALS) process.on(signal, stop);
  return new Promise((resolve, reject) => {
    jest.on('error', reject);
    jest.on('close', (code, signal) => {
      for (const signal of SIGNALS) process.off(signal, stop);
      // After a signal, programs that tests have started may still write into it.
      if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
      resolve(signal === null ? code : 130);
    });
  });
}

/** The files of a book are copied for most tests of it: in memory that takes half the time. Undefined: not here. */
function createFolderInMemory() {
  if (process.env.TMPDIR) return undefined;
  let folder;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return undefined;
    folder = createOwnFolder(MEMORY, 'tollgate-tests');
    // PostgreSQL does not run as root, so its files are another user's.
    chmodSync(folder, 0o711);
    assertExecutable(folder);
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

/** Docker mounts /dev/shm so that nothing in it can be executed, and tests write scripts that they run. */
function assertExecutable(folder) {
  const script = join(folder, 'script');
  writeFileSync(script, '#!/bin/sh\n', { mode: 0o755 });
  execFileSync(script, { stdio: 'ignore' });
  rmSync(script);
}
