// Builds the gateway's pages to dist/apps/gateway/web, and refuses to when they are larger than their budget.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'apps', 'gateway', 'web');
const target = join(root, 'dist', 'apps', 'gateway', 'web');
/** Of script and style together, the QR code included. */
const MOST_GZIPPED_BYTES = 25_000;

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await build({
  entryPoints: { pay: join(source, 'main.ts'), pages: join(source, 'pages.css') },
  outdir: target,
  tsconfig: join(root, 'tsconfig.json'),
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  legalComments: 'none',
  logLevel: 'warning',
});
const sizes = ['pay.js', 'pages.css'].map((file) => gzipSync(readFileSync(join(target, file)), { level: 9 }).length);
const size = sizes.reduce((sum, one) => sum + one, 0);
if (size > MOST_GZIPPED_BYTES) {
  process.stderr.write(
    `The pages have ${size} bytes gzipped; at most ${MOST_GZIPPED_BYTES} (scripts/build-web.mjs).\n`,
  );
  process.exit(1);
}
