import { readFileSync } from 'node:fs';

/** A text refers to a variable that is not set, or does not name one. */
export class VariableError extends Error {}

const VARIABLE = /\$\{([^}]*)(\}?)/g;

/**
 * Replaces `${NAME}` by the value of that environment variable, or by the content of the file that `NAME_FILE` names, as
 * container platforms provide a secret. No error quotes a value.
 *
 * @throws VariableError naming the variable that is not set
 */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(VARIABLE, (_, name: string, end: string) => {
    if (end === '' || !/^[A-Za-z_]\w*$/.test(name)) throw new VariableError('has "${" without a variable name and "}"');
    const value = env[name] || readSecret(name, env[`${name}_FILE`]);
    if (value === '') throw new VariableError(`needs the environment variable ${name}, which is not set`);
    return value;
  });
}

function readSecret(name: string, file = ''): string {
  if (file === '') return '';
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new VariableError(`needs the file of ${name}_FILE, which cannot be read (${code})`);
  }
}
