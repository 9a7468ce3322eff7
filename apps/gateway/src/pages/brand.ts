import { readFileSync } from 'node:fs';

import { ConfigurationError, createWebFile, type WebFile, type WebFileKind } from '@tollgate/common';

import type { PagesEnvironment } from '../config/pages.environment.js';
import { ASSETS_PATH } from './web-files.js';

/** The seller's name and logo on the pages. */
export interface Brand {
  readonly name: string;
  readonly logo: WebFile | null;
}

const LARGEST_LOGO_BYTES = 100_000;

/** @throws ConfigurationError for a logo that cannot be read, is too large, or is no image of a known kind */
export function readBrand({ brandName, brandLogo }: PagesEnvironment): Brand {
  if (brandLogo === undefined) return { name: brandName, logo: null };
  let body: Buffer;
  try {
    body = readFileSync(brandLogo);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([`BRAND_LOGO: the file ${brandLogo} cannot be read (${code}).`]);
  }
  if (body.length > LARGEST_LOGO_BYTES) {
    throw new ConfigurationError([`BRAND_LOGO: ${brandLogo} has ${body.length} bytes; at most ${LARGEST_LOGO_BYTES}.`]);
  }
  const kind = kindOf(body);
  if (kind === null) {
    throw new ConfigurationError([`BRAND_LOGO: ${brandLogo} is no PNG, JPEG, WebP or SVG image.`]);
  }
  return { name: brandName, logo: createWebFile(ASSETS_PATH, 'logo', kind, body) };
}

/** By the content: the name of a file says nothing. */
function kindOf(body: Buffer): WebFileKind | null {
  const start = body.subarray(0, 12).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpg';
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp';
  const text = body.subarray(0, 1000).toString('utf8');
  return /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(text) ? 'svg' : null;
}
