// Lets programs that run by tsx import `.lua` and `.sql` files as text: `tsx --import ./scripts/lua-modules.mjs <file>`.
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

// Node loads this file a second time, as the hook, on a thread of its own.
if (isMainThread) register(import.meta.url);

export async function load(url, context, nextLoad) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !/\.(lua|sql)$/.test(pathname)) return nextLoad(url, context);
  const text = await readFile(new URL(pathname, 'file:'), 'utf8');
  return { format: 'module', shortCircuit: true, source: `export default ${JSON.stringify(text)};` };
}
