import { existsSync, readFileSync, rmSync } from 'node:fs';

import type {} from '@tollgate/journal';

// Loaded before a service whose build has crash points: at the crash point named in the file, the process sends itself
// the signal named beside it, once.
const file = process.env['CRASH_POINT_FILE'] ?? '';

globalThis.tollgateCrashPoint = (point) => {
  if (!existsSync(file)) return;
  const [at, signal] = readFileSync(file, 'utf8').split(' ');
  if (at !== point) return;
  rmSync(file);
  process.kill(process.pid, signal);
};
