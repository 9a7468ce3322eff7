import { spawn } from 'node:child_process';

import { createSession, type Session } from './session.js';

export interface TerminalSession extends Session {
  pid: number;
}

export const CTRL_C = '\x03';
export const CTRL_D = '\x04';

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Runs a program in a pseudo-terminal of its own, as a person would, by `script` of util-linux. */
export function startInTerminal(
  command: readonly string[],
  { env, cwd = process.cwd() }: { env: NodeJS.ProcessEnv; cwd?: string },
): TerminalSession {
  const line = `stty cols 200 rows 50; exec ${command.map(quote).join(' ')}`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    cwd,
    env: { SHELL: '/bin/sh', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => undefined);
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const { take, ...session } = createSession((text) => void child.stdin.write(text), exited);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
  return {
    ...session,
    pid: child.pid ?? 0,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
