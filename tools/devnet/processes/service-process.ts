import { existsSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startChild, type Child, type Exit } from './child-process.js';
import { repositoryRoot } from './repository.js';

export type ServiceApp = 'gateway' | 'verifier' | 'agent-worker' | 'bookkeeper';

export interface ServiceOptions {
  app: ServiceApp;
  /** Its name in messages, e.g. `gateway-2`. */
  name: string;
  /** The URL at which it serves HTTP, including `/health/ready`. */
  url: string;
  /** Its whole environment: nothing else is inherited. */
  env: NodeJS.ProcessEnv;
  /** The checkout of this repository whose build runs; without it the one of the working directory. */
  checkout?: string | undefined;
  /** Runs the sources instead of the build: they need none, and start more slowly. */
  fromSources?: boolean | undefined;
  /** Runs the build that has crash points (`npm run setup -- --crash-points`), with this module loaded first. */
  preload?: string | undefined;
  /** Further options of Node, e.g. `--cpu-prof`. */
  nodeArgs?: readonly string[] | undefined;
  onLine?: ((line: string) => void) | undefined;
}

export interface ServiceProcess {
  name: string;
  url: string;
  /** The id of the process that runs now, or ran last. */
  readonly pid: number;
  readonly exited: Promise<Exit>;
  hasExited(): boolean;
  /** Sends the signal (default SIGKILL) and waits for the end; SIGKILL after `graceMs` (default 30,000). */
  kill(signal?: NodeJS.Signals, graceMs?: number): Promise<Exit>;
  /** Sends the signal and does not wait: SIGSTOP and SIGCONT make it hang and go on. */
  signal(signal: NodeJS.Signals): void;
  /**
   * Starts it again on the same port, with changed settings and from another checkout if given, which later restarts
   * keep; ends it first (SIGTERM) when it still runs.
   */
  restart(changes?: NodeJS.ProcessEnv, checkout?: string): Promise<void>;
  /** SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
  logs: () => string;
}

const READY_WITHIN_MS = 180_000;

/** Starts a service, by default from its build, and waits until it is ready. */
export async function startService(options: ServiceOptions): Promise<ServiceProcess> {
  let current = options;
  let child = await launch(current);
  return {
    name: options.name,
    url: options.url,
    get pid() {
      return child.pid;
    },
    get exited() {
      return child.exited;
    },
    hasExited: () => child.hasExited(),
    kill: (signal = 'SIGKILL', graceMs = 30_000) => child.end(signal, graceMs),
    signal: (signal) => child.signal(signal),
    restart: async (changes = {}, checkout) => {
      current = { ...current, env: { ...current.env, ...changes }, ...(checkout === undefined ? {} : { checkout }) };
      if (!child.hasExited()) await child.end('SIGTERM');
      child = await launch(current);
    },
    stop: async () => {
      child.signal('SIGCONT');
      await child.end('SIGTERM');
    },
    logs: () => child.logs(),
  };
}

async function launch(options: ServiceOptions): Promise<Child> {
  const { app, name, url, env, preload, nodeArgs = [], fromSources = false, onLine } = options;
  const root = options.checkout ?? repositoryRoot();
  const main = join(
    root,
    fromSources ? `apps/${app}/src/main.ts` : `dist/${preload ? 'crash/' : ''}apps/${app}/main.js`,
  );
  if (!existsSync(main))
    throw new Error(`${main} is missing: run \`npm run setup${preload ? ' -- --crash-points' : ''}\`.`);
  const child = await startChild({
    name,
    command: process.execPath,
    // As in the Dockerfile; docs/performance.md explains the size of the young generation.
    args: [
      ...['--enable-source-maps', '--min-semi-space-size=16', ...nodeArgs],
      ...(preload === undefined ? [] : ['--require', './scripts/typescript.cjs', '--require', preload]),
      ...(fromSources ? ['scripts/typescript.cjs'] : []),
      main,
    ],
    env,
    cwd: root,
    onLine,
  });
  const deadlineMs = Date.now() + READY_WITHIN_MS;
  // If the process has ended, the readiness on its port is that of another process.
  while (!(await isReady(url)) || child.hasExited()) {
    const isLate = Date.now() > deadlineMs;
    if (isLate) await child.end('SIGKILL');
    if (child.hasExited()) {
      await child.exited;
      // The caller that watches the lines has seen them.
      const lines = onLine ? ', see above.' : `:\n${child.logs()}`;
      throw new Error(`${name} ${isLate ? 'was not ready within three minutes' : 'ended while starting'}${lines}`);
    }
    await sleep(50);
  }
  return child;
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const target = new URL('/health/ready', url);
    const options = { timeout: 2000, agent: false };
    const request =
      target.protocol === 'https:'
        ? // A local stack may have any certificate; only its health is requested here.
          requestHttps(target, { ...options, rejectUnauthorized: false })
        : requestHttp(target, options);
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
    request.end();
  });
}
