import { spawn } from 'node:child_process';

import { startInTerminal, type TerminalSession } from './start-in-terminal.js';

const CHAT_COMMAND = [process.execPath, 'scripts/typescript.cjs', 'packages/agent-kit/src/chat/main.ts'];
/** The text at the end of each answer, when the chat waits for the next line. */

export const PROMPT = /\n(?:\u001b\[\d*[A-Z])*> /;

export interface ChatStart {
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** The chat program in a terminal, with only the given settings. */
export function startChat({ args = [], env = {} }: ChatStart): TerminalSession {
  const { PATH, HOME } = process.env;
  return startInTerminal([...CHAT_COMMAND, ...args], { env: { PATH, HOME, ...env } });
}

/** Runs the chat without a terminal: its input is a pipe that ends. */
export async function runPiped({ input, args = [], env = {} }: ChatStart & { input: string }): Promise<PipedRun> {
  const { PATH, HOME } = process.env;
  const [program = '', ...programArgs] = CHAT_COMMAND;
  const child = spawn(program, [...programArgs, ...args], { env: { PATH, HOME, ...env } });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stdin.on('error', () => undefined).end(input);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { stdout, code };
}

export interface PipedRun {
  stdout: string;
  code: number | null;
}
