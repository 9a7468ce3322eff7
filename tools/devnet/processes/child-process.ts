import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';

export interface ChildOptions {
  /** How messages name the process, e.g. `redis`. */
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Sees each line of output as it comes. */
  onLine?: ((line: string) => void) | undefined;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Child {
  pid: number;
  exited: Promise<Exit>;
  hasExited(): boolean;
  /** The last 400 lines of its output, stdout and stderr together. */
  logs(): string;
  /** Resolves with the first line that matches; rejects when the process ends or the time is over before. */
  waitForLine(pattern: RegExp, timeoutMs: number): Promise<RegExpMatchArray>;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal, waits for the end; SIGKILL when that takes longer than `graceMs` (default 10,000). */
  end(signal: NodeJS.Signals, graceMs?: number): Promise<Exit>;
  /** Lets this process end, which ends the child. */
  unref(): void;
}

const KEPT_LINES = 400;

/**
 * Starts a process that cannot outlive this one. It is in a process group of its own, so that Ctrl-C does not reach it.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new Error(`${options.name} did not start: ${cause.message}`, { cause })));
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${options.name} did not start`);

  const lines: string[] = [];
  const watchers = new Set<(line: string) => void>();
  const takeLine = (line: string) => {
    lines.push(line);
    if (lines.length > KEPT_LINES) lines.shift();
    options.onLine?.(line);
    for (const watcher of watchers) watcher(line);
  };
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', takeLine);

  let exit: Exit | undefined;
  guard(pid);
  const exited = new Promise<Exit>((resolve) => {
    const finish = () => resolve(exit ?? { code: null, signal: null });
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      unguard(pid);
      // A grandchild that got away may keep the output open.
      setTimeout(finish, 2000).unref();
    });
    // 'close' comes after 'exit' and the last output, so that logs() is complete.
    child.once('close', finish);
  });

  const self: Child = {
    pid,
    exited,
    hasExited: () => exit !== undefined,
    logs: () => lines.join('\n'),
    signal: (signal) => {
      if (!exit) child.kill(signal);
    },
    end: async (signal, graceMs = 10_000) => {
      self.signal(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      const result = await exited;
      clearTimeout(timer);
      return result;
    },
    unref: () => {
      child.unref();
      for (const output of [child.stdout, child.stderr]) (output as Socket).unref();
    },
    waitForLine: (pattern, timeoutMs) =>
      new Promise((resolve, reject) => {
        const fail = (what: string) => {
          stopWatching();
          reject(
            new Error(`${options.name} ${what} before it printed ${String(pattern)}. Its output:\n${lines.join('\n')}`),
          );
        };
        const watcher = (line: string) => {
          const match = pattern.exec(line);
          if (!match) return;
          stopWatching();
          resolve(match);
        };
        const timer = setTimeout(() => fail(`took longer than ${timeoutMs} ms`), timeoutMs);
        const stopWatching = () => {
          watchers.delete(watcher);
          clearTimeout(timer);
        };
        watchers.add(watcher);
        for (const line of [...lines]) watcher(line);
        void exited.then(() => fail('ended'));
      }),
  };
  return self;
}

// The reaper is a shell that reads the list of our children from a pipe and kills the remaining ones when the pipe
// closes: that happens however this process ends, SIGKILL included. It runs only while there are children.
const REAPER = `
trap '' INT TERM HUP
pids=' '
while read -r sign pid; do
  case $sign in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
alive() { for pid in $pids; do kill -0 $pid && return; done; false; } 2>/dev/null
each() { for pid in $pids; do kill -$1 $pid; done; } 2>/dev/null
each CONT; each TERM
for try in 1 2 3 4 5 6 7 8 9 10; do alive || exit 0; sleep 0.3; done
each KILL
`;

let reaper: ChildProcess | undefined;
const guarded = new Set<number>();

function guard(pid: number): void {
  if (!reaper) {
    reaper = spawn('/bin/sh', ['-c', REAPER], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
    reaper.unref();
    reaper.stdin?.on('error', () => undefined);
    (reaper.stdin as unknown as { unref(): void }).unref();
  }
  guarded.add(pid);
  reaper.stdin?.write(`+ ${pid}\n`);
}

function unguard(pid: number): void {
  guarded.delete(pid);
  reaper?.stdin?.write(`- ${pid}\n`);
  if (guarded.size > 0) return;
  reaper?.stdin?.end();
  reaper = undefined;
}
