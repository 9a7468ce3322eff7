import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { claimPidFile } from '../../../scripts/process-identity.mjs';

/**
 * The port, unless another devnet of this machine has claimed it; then 0, which means any. Two devnets that start
 * together would both find it free, and one would mistake the other's gateway for its own.
 */
export function claimPort(port: number): number {
  // Not in TMPDIR, by which tests and a developer's devnet would not see each other's claims.
  const file = join(process.platform === 'win32' ? tmpdir() : '/tmp', `tollgate-port-${port}`);
  if (!claimPidFile(file)) return 0;
  process.once('exit', () => rmSync(file, { force: true }));
  return port;
}
