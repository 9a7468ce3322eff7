/** A text refers to a variable that is not set, or does not name one. */
export class VariableError extends Error {}

const VARIABLE = /\$\{([^}]*)(\}?)/g;

/**
 * Replaces `${NAME}` by the value of that environment variable. Values are secrets: no error quotes one.
 *
 * @throws VariableError naming the variable that is not set
 */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): string {
  return text.replace(VARIABLE, (_, name: string, end: string) => {
    if (end === '' || !/^[A-Za-z_]\w*$/.test(name)) throw new VariableError('has "${" without a variable name and "}"');
    const value = env[name];
    if (value === undefined || value === '')
      throw new VariableError(`needs the environment variable ${name}, which is not set`);
    return value;
  });
}
