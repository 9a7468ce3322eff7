import { spawn } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';

import { runChatCommand } from '../../../packages/agent-kit/src/chat/chat-command.js';
import { createSession, type Session } from './session.js';
import { startInTerminal, type TerminalSession } from './start-in-terminal.js';

const CHAT_COMMAND = [process.execPath, 'scripts/typescript.cjs', 'packages/agent-kit/src/chat/main.ts'];
/** The text at the end of each answer, when the chat waits for the next line. */
export const PROMPT = /\n(?:\u001b\[\d*[A-Z])*> /;

export interface ChatStart {
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
}

/** The chat in this process, with only the given settings, on streams that act as a terminal. */
export function startChat(start: ChatStart): Session {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const hasColors = () => start.env?.['NO_COLOR'] === undefined;
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 200, hasColors });
  const stop = new AbortController();
  const exited = converse(start, input, output, stop);
  const { take, ...session } = createSession((text) => void input.write(text), exited);
  output.setEncoding('utf8').on('data', take);
  return {
    ...session,
    kill: async () => {
      stop.abort();
      await exited;
    },
  };
}

/** The chat program in a terminal, with only the given settings. */
export function startChatInTerminal({ args = [], env = {} }: ChatStart): TerminalSession {
  const { PATH, HOME, TOLLGATE_OWN_SERVERS } = process.env;
  return startInTerminal([...CHAT_COMMAND, ...args], { env: { PATH, HOME, TOLLGATE_OWN_SERVERS, ...env } });
}

/** Runs the chat in this process, without a terminal: its input ends. */
export async function runPiped({ input, ...start }: ChatStart & { input: string }): Promise<PipedRun> {
  const output = new PassThrough();
  let stdout = '';
  output.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  const code = await converse(start, new PassThrough().end(input), output);
  return { stdout, code };
}

/** Runs the chat program without a terminal: its input is a pipe that ends. */
export async function runPipedProgram({
  input,
  args = [],
  env = {},
}: ChatStart & { input: string }): Promise<PipedRun> {
  const { PATH, HOME, TOLLGATE_OWN_SERVERS } = process.env;
  const [program = '', ...programArgs] = CHAT_COMMAND;
  const child = spawn(program, [...programArgs, ...args], { env: { PATH, HOME, TOLLGATE_OWN_SERVERS, ...env } });
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

/** Resolves with the exit code when all output was read. */
async function converse(
  { args = [], env = {} }: ChatStart,
  input: PassThrough,
  output: PassThrough,
  stop = new AbortController(),
): Promise<number> {
  const code = await runChatCommand(args, {
    env: { ...env },
    streams: { input, output },
    stop: stop.signal,
    leaveAtOnce: () => stop.abort(),
  });
  output.end();
  await finished(output);
  return code;
}
