import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { setup } from './setup.mjs';

/**
 * Makes this clone ready (see `setup`), changes to its folder, and loads a TypeScript module of it. Ends the
 * process if the set-up fails; the reason is then on the terminal.
 */
export async function loadWhenReady(path, options) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  await setup(options);
  const require = createRequire(import.meta.url);
  require('./typescript.cjs');
  return require(`../${path}`);
}
