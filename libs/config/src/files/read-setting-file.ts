import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { ConfigurationError } from '../configuration-error.js';

/** The content of the file that a setting names. @throws ConfigurationError where it cannot be read */
export function readSettingFile(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([`${setting}: the file ${path} cannot be read (${code}).`]);
  }
}

/** A file of settings as text. @throws ConfigurationError where it cannot be read or is not UTF-8 */
export function readTextFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new ConfigurationError([`${resolve(path)} ${why}.`]);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigurationError(['The file is not UTF-8 text.']);
  }
}
