import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** A file that the pages load, at a path that changes with its content. */
export interface WebFile {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  /** `sha256-…`, for the page's policy and the element's `integrity`. */
  readonly hash: string;
}

export interface WebFiles {
  readonly script: WebFile;
  /** Written into each page, so that it is never seen without. */
  readonly style: { readonly text: string; readonly hash: string };
}

/** The folder of all files of the pages. */
export const ASSETS_PATH = '/pay/assets';

/** The built files of apps/gateway/web; null where they are not built. */
export function readWebFiles(): WebFiles | null {
  const folder = findBuilt();
  if (folder === null) return null;
  const text = readFileSync(join(folder, 'pages.css'), 'utf8');
  const script = createWebFile('pay', 'js', readFileSync(join(folder, 'pay.js')));
  return { script, style: { text, hash: hashOf(Buffer.from(text)) } };
}

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
} as const;

export type WebFileKind = keyof typeof TYPES;

export function createWebFile(name: string, kind: WebFileKind, body: Buffer): WebFile {
  const hash = hashOf(body);
  const short = createHash('sha256').update(body).digest('hex').slice(0, 16);
  const path = `${ASSETS_PATH}/${name}-${short}.${kind}`;
  return { path, type: TYPES[kind], body, gzipped: gzipSync(body, { level: 9 }), hash };
}

function hashOf(body: Buffer): string {
  return `sha256-${createHash('sha256').update(body).digest('base64')}`;
}

/** Beside the built gateway, or in the dist folder of the checkout whose sources run. */
function findBuilt(): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = ['web', 'dist/apps/gateway/web'].map((path) => join(folder, path));
    const built = found.find((path) => existsSync(join(path, 'pay.js')));
    if (built !== undefined) return built;
    if (dirname(folder) === folder) return null;
  }
}
