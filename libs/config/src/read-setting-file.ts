import { readFileSync } from 'node:fs';

import { ConfigurationError } from './configuration-error.js';

/** The content of the file that a setting names. @throws ConfigurationError where it cannot be read */
export function readSettingFile(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([`${setting}: the file ${path} cannot be read (${code}).`]);
  }
}
