// Builds the pages of the gateway and of the bookkeeper to dist/apps/*/web, and refuses to when they are larger than
// their budget.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** `mostGzippedBytes`: of script and style together; the pay page's script has the QR code in it. */
const PAGES = [
  { app: 'gateway', entries: { pay: 'main.ts', frame: 'frame.ts', pages: 'pages.css' }, mostGzippedBytes: 25_000 },
  { app: 'bookkeeper', entries: { console: 'main.tsx', style: 'console.css' }, mostGzippedBytes: 60_000 },
];

for (const { app, entries, mostGzippedBytes } of PAGES) {
  const source = join(root, 'apps', app, 'web');
  const outdir = join(root, 'dist', 'apps', app, 'web');
  rmSync(outdir, { recursive: true, force: true });
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({
    entryPoints: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(source, file)])),
    outdir,
    tsconfig: join(source, 'tsconfig.json'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022'],
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    absWorkingDir: root,
  });
  const files = Object.keys(metafile.outputs).map((file) => join(root, file));
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);
  process.stdout.write(`pages of the ${app}: ${bytes} bytes gzipped, of at most ${mostGzippedBytes}\n`);
  if (bytes > mostGzippedBytes) {
    process.stderr.write(`The pages of the ${app} are too large (scripts/build/build-web.mjs).\n`);
    process.exit(1);
  }
}
