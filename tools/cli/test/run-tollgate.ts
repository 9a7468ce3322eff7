import { runTollgate } from '../program.js';

/** The result of a command. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs `tollgate` in this process; resolves with its output, without the last line break, and rejects with the whole
 * result.
 */
export async function tollgate(argv: readonly string[], env: Record<string, string> = {}): Promise<string> {
  let stdout = '';
  let stderr = '';
  const code = await runTollgate(argv, {
    env,
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
  });
  if (code !== 0) throw Object.assign(new Error(stderr), { code, stdout, stderr });
  return stdout.replace(/\n$/, '');
}

export const WRONG_USAGE = { code: 2, stdout: '' };
export const NOT_DONE = { code: 1, stdout: '' };
