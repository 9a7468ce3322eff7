import { fileURLToPath } from 'node:url';
import { setup } from './setup.mjs';

/**
 * Makes this clone ready (see `setup`), works in its folder from then on, and gives a TypeScript module of it. Ends the
 * process where the set-up fails: what and why is on the terminal by then.
 */
export async function loadWhenReady(path, options) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  await setup(options).catch(() => process.exit(1));
  const { register } = await import('tsx/esm/api');
  register();
  return import(new URL(`../${path}`, import.meta.url));
}
