import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file that a page loads, at a path that changes with its content. */
export interface WebFile {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  readonly gzipped: Buffer;
  /** `sha256-…`, for the page's policy and the element's `integrity`. */
  readonly hash: string;
}

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
} as const;

export type WebFileKind = keyof typeof TYPES;

/** @param folder the path of the folder in which the file is served, without a slash at its end */
export function createWebFile(folder: string, name: string, kind: WebFileKind, body: Buffer): WebFile {
  const short = createHash('sha256').update(body).digest('hex').slice(0, 16);
  const path = `${folder}/${name}-${short}.${kind}`;
  return { path, type: TYPES[kind], body, gzipped: gzipSync(body, { level: 9 }), hash: hashForPolicy(body) };
}

/** The form in which a content security policy names a script or a style. */
export function hashForPolicy(body: Buffer): string {
  return `sha256-${createHash('sha256').update(body).digest('base64')}`;
}

/** A file whose path changes with its content, so that browsers may keep it. */
export function sendWebFile(request: FastifyRequest, reply: FastifyReply, file: WebFile): FastifyReply {
  const isGzipped = /\bgzip\b/.test(request.raw.headers['accept-encoding'] ?? '');
  void reply
    .type(file.type)
    .header('Cache-Control', 'public, max-age=31536000, immutable')
    .header('Vary', 'Accept-Encoding')
    .header('X-Content-Type-Options', 'nosniff')
    // An SVG runs scripts where it is opened by itself.
    .header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (!isGzipped) return reply.send(file.body);
  return reply.header('Content-Encoding', 'gzip').send(file.gzipped);
}

/**
 * The folder of the built pages of an app: beside the built service, or in the dist folder of the checkout whose
 * sources run. Null where it does not have the file.
 */
export function findBuiltPages(app: 'gateway' | 'bookkeeper', file: string): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = ['web', `dist/apps/${app}/web`].map((path) => join(folder, path));
    const built = found.find((path) => existsSync(join(path, file)));
    if (built !== undefined) return built;
    if (dirname(folder) === folder) return null;
  }
}
