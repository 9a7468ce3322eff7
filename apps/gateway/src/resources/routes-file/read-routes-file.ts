import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { ConfigurationError } from '@tollgate/common';

import type { PaidRoute } from '../../paywall/route/paid-route.js';
import type { RouteContext } from './create-proxy-route.js';
import { parseRoutes } from './parse-routes.js';

/** @throws ConfigurationError listing every problem of the file, or why it cannot be read */
export function readRoutesFile(file: string, context: RouteContext): PaidRoute[] {
  try {
    return parseRoutes(readText(file), context);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(error.problems.map((problem) => `ROUTES_FILE ${file}: ${problem}`));
  }
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigurationError([`${resolve(file)} ${why}.`]);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigurationError(['The file is not UTF-8 text.']);
  }
}
