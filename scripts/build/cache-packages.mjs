// Keeps the compiled code of built services' packages beside them (see load-packages.mjs): `cache-packages.mjs <main.js>...`.
// A service without settings loads all of its modules and then refuses to start; most of what a start compiles is compiled then.
import { execFile } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const here = fileURLToPath(import.meta.url);
/** V8's flags of a service, as in the Dockerfile: it rejects code that was compiled under others. */
const FLAGS = ['--min-semi-space-size=16'];

export async function cachePackages(mains) {
  const env = { PATH: process.env.PATH };
  for (const main of mains) await promisify(execFile)(process.execPath, [...FLAGS, here, '--load', main], { env });
}

async function loadAndKeep(main) {
  const { cachePath, script } = await import(pathToFileURL(join(dirname(main), 'packages.js')).href);
  const folder = dirname(cachePath);
  for (const file of readdirSync(folder)) if (file.endsWith('.cache')) rmSync(join(folder, file));
  process.once('exit', () => {
    writeFileSync(cachePath, script.createCachedData());
    process.exitCode = 0;
  });
  await import(pathToFileURL(main).href).catch((error) => {
    process.removeAllListeners('exit');
    console.error(error);
    process.exit(1);
  });
}

const [first, ...rest] = process.argv.slice(2);
if (process.argv[1] && resolve(process.argv[1]) === here) {
  if (first === '--load') await loadAndKeep(resolve(rest[0]));
  else await cachePackages([first, ...rest]);
}
