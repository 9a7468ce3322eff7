import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { build, type Plugin } from 'esbuild';

import { repositoryRoot } from '../../../tools/devnet/processes/repository.js';

/** Where the program finds its native packages, and the source lines for an error that ends it. */
const BANNER = `const importMetaUrl = require('node:url').pathToFileURL(__filename).href;
require(${JSON.stringify(join(repositoryRoot(), 'test/harness/stack/map-last-error.cjs'))})(__filename);`;

/** Packages that another one uses where they are installed, such as Nest's brokers, stay outside. */
const leaveOutMissing: Plugin = {
  name: 'leave-out-missing',
  setup: (building) => {
    building.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...place }) => {
      if (pluginData === leaveOutMissing || !place.resolveDir.includes('node_modules')) return undefined;
      const found = await building.resolve(path, { ...place, pluginData: leaveOutMissing });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

const bundles = new Map<string, Promise<string>>();

/**
 * The path of a program in one file, made once by each Jest worker: a process that loads some 900 modules one by one takes
 * 0.7 s of CPU to start, and a bundle 0.2 s.
 */
export function bundleProgram(entry: string): Promise<string> {
  const bundle = bundles.get(entry) ?? writeBundle(entry);
  bundles.set(entry, bundle);
  return bundle;
}

async function writeBundle(entry: string): Promise<string> {
  const root = repositoryRoot();
  const name = basename(entry, '.ts');
  const folder = join(root, '.tollgate', 'compiled', 'programs');
  const { outputFiles } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    mainFields: ['main'],
    write: false,
    outfile: join(folder, `${name}.cjs`),
    sourcemap: 'external',
    sourcesContent: false,
    loader: { '.lua': 'text', '.sql': 'text' },
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: { js: BANNER },
    plugins: [leaveOutMissing],
    external: ['msgpackr-extract'],
  });
  const hash = createHash('sha256');
  for (const { contents } of outputFiles) hash.update(contents);
  const path = join(folder, `${name}-${hash.digest('hex').slice(0, 16)}.cjs`);
  await mkdir(folder, { recursive: true });
  for (const file of outputFiles) {
    const target = file.path.endsWith('.map') ? `${path}.map` : path;
    // Another worker may be doing the same.
    await writeFile(`${target}.${process.pid}`, file.contents);
    await rename(`${target}.${process.pid}`, target);
  }
  return path;
}
