import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a setting from `NAME`, or from the file in `NAME_FILE`, which is how container platforms pass secrets.
 * @param problems collects every problem, without the value.
 * @returns an empty text if it is not set; undefined if it could not be read, which is then a problem.
 */
export function readSetting(name: string, env: Environment, problems: string[]): string | undefined {
  const value = env[name]?.trim() ?? '';
  const file = env[`${name}_FILE`]?.trim() ?? '';
  if (file === '') return value;
  if (value !== '') {
    problems.push(`${name} and ${name}_FILE are both set`);
    return undefined;
  }
  const text = readTextFile(`${name}_FILE`, file, problems);
  if (text === '') problems.push(`${name}_FILE is empty: ${resolve(file)}`);
  return text === '' ? undefined : text;
}

/** The trimmed text of a setting's file; undefined if it cannot be read, which is then a problem. */
export function readTextFile(setting: string, file: string, problems: string[]): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    problems.push(`${setting} cannot be read (${code}): ${resolve(file)}`);
    return undefined;
  }
}
