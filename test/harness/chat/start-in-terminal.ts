import { spawn } from 'node:child_process';

export interface TerminalSession {
  pid: number;
  /** All output so far. */
  shown(): string;
  /** Types the text, without Enter. */
  type(text: string): void;
  /** Types the line and Enter. */
  enter(line: string): void;
  /**
   * Resolves with the output from the end of the last match to the end of this one. Rejects when the program ends
   * before it, or when the time is over.
   */
  waitFor(pattern: RegExp | string, withinMs?: number): Promise<string>;
  /** Resolves with the exit code when the program has ended. */
  exited: Promise<number | null>;
  kill(): Promise<void>;
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
  let shown = '';
  let read = 0;
  let hasEnded = false;
  const watchers = new Set<() => void>();
  const take = (chunk: string) => {
    shown += chunk;
    for (const watch of watchers) watch();
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', take);
  child.stdin.on('error', () => undefined);
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      hasEnded = true;
      for (const watch of watchers) watch();
      resolve(code);
    });
  });
  const waitFor = (pattern: RegExp | string, withinMs = 90_000) =>
    new Promise<string>((resolve, reject) => {
      const finish = (settle: () => void) => {
        watchers.delete(look);
        clearTimeout(timer);
        settle();
      };
      const fail = (what: string) =>
        finish(() =>
          reject(
            new Error(`${what} before ${String(pattern)} was shown. Shown since the last match:\n${shown.slice(read)}`),
          ),
        );
      const look = () => {
        const text = shown.slice(read);
        const end = typeof pattern === 'string' ? text.indexOf(pattern) : text.search(pattern);
        if (end >= 0) {
          const length = typeof pattern === 'string' ? pattern.length : (pattern.exec(text)?.[0].length ?? 0);
          read += end + length;
          finish(() => resolve(text.slice(0, end + length)));
        } else if (hasEnded) fail('The program ended');
      };
      const timer = setTimeout(() => fail(`${withinMs} ms passed`), withinMs);
      watchers.add(look);
      look();
    });
  return {
    pid: child.pid ?? 0,
    shown: () => shown,
    type: (text) => void child.stdin.write(text),
    enter: (text) => void child.stdin.write(`${text}\r`),
    waitFor,
    exited,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
