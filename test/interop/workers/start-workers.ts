import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';

import { build } from 'esbuild';
import type { Hex } from 'viem';

export interface WorkerSettings {
  privateKey: Hex;
  rpcUrl: string;
  chainId: number;
  asset: Hex;
  payTo: Hex;
  facilitatorUrl: string;
  jobsUrl: string;
  apiKey: string;
}

export interface Workers {
  /** The base URL of each Worker. */
  urls: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const interop = createRequire(resolve('test/interop/package.json'));

/** Runs `worker.ts` in Cloudflare's runtime, once for each compatibility date. */
export async function startWorkers(dates: readonly string[], settings: WorkerSettings): Promise<Workers> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-workers-'));
  await build({
    entryPoints: ['test/interop/workers/worker.ts'],
    outfile: join(folder, 'worker.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd', 'worker', 'browser'],
    define: { SETTINGS: JSON.stringify(settings) },
  });
  const services = dates.map(
    (date) =>
      `(name = "${date}", worker = (modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "${date}"))`,
  );
  const sockets = dates.map((date) => `(name = "${date}", address = "127.0.0.1:0", http = (), service = "${date}")`);
  await writeFile(
    join(folder, 'workers.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [${services.join()}, (name = "internet", network = (allow = ["private"]))],
      sockets = [${sockets.join()}]
    );`,
  );
  const program = (interop('workerd') as { default: string }).default;
  const child = spawn(program, ['serve', '--control-fd=3', join(folder, 'workers.capnp'), 'config'], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (printed += text.toString()));
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const urls: Record<string, string> = {};
  let control = '';
  await new Promise<void>((ready, fail) => {
    (child.stdio[3] as Readable).on('data', (text: Buffer) => {
      control += text.toString();
      for (const [, socket = '', port] of control.matchAll(/"socket":"([^"]+)","port":(\d+)/g))
        urls[socket] = `http://127.0.0.1:${port}`;
      if (Object.keys(urls).length === dates.length) ready();
    });
    void ended.then(() => fail(new Error(`workerd ended: ${printed}`)));
  });
  return {
    urls,
    async stop() {
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
