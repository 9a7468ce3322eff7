import { join } from 'node:path';

import { build } from 'esbuild';

import { repositoryRoot } from '../processes/repository.js';

/** Builds the wallet of a devnet's pages into the folder. Returns the file. */
export async function buildTestWallet(folder: string): Promise<string> {
  const outfile = join(folder, 'test-wallet.js');
  await build({
    entryPoints: [join(repositoryRoot(), 'tools', 'devnet', 'test-wallet', 'test-wallet.ts')],
    outfile,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022'],
    logLevel: 'warning',
  });
  return outfile;
}
