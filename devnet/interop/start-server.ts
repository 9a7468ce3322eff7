import { join } from 'node:path';

import type { Hex } from 'viem';

import type { Devnet } from '../chain.js';
import { startChild } from '../child-process.js';
import { repositoryRoot } from '../repository.js';

/** The programs of test/interop/servers; all but the first use published middlewares. */
export type ServerName = 'tollgate' | 'x402-express' | 'x402-hono' | 'x402-express-v2' | 'x402-hono-v2' | 'next';

export interface ServerOptions {
  payTo: Hex;
  priceBaseUnits: bigint;
  /** Its facilitator, and the headers that it authenticates with. */
  facilitatorUrl: string;
  facilitatorHeaders?: Record<string, string>;
}

export interface RunningServer {
  url: string;
  logs: () => string;
  stop(): Promise<void>;
}

/** Starts a program that sells `/quote` and `/broken` behind a published middleware. The packages must be installed. */
export async function startServer(name: ServerName, chain: Devnet, options: ServerOptions): Promise<RunningServer> {
  const { chainId, asset } = chain;
  const { payTo, priceBaseUnits, facilitatorUrl, facilitatorHeaders = {} } = options;
  const configuration = {
    ...{ chainId, asset, assetName: 'USDC', assetVersion: '2', payTo },
    ...{ priceBaseUnits: String(priceBaseUnits), facilitatorUrl, facilitatorHeaders },
  };
  const isOurs = name === 'tollgate';
  const child = await startChild({
    name,
    command: process.execPath,
    args: [
      ...(isOurs ? ['--import', 'tsx'] : []),
      join(repositoryRoot(), 'test', 'interop', 'servers', isOurs ? 'tollgate.ts' : `${name}.mjs`),
    ],
    cwd: repositoryRoot(),
    env: {
      PATH: process.env['PATH'],
      INTEROP_SERVER: JSON.stringify(configuration),
      NEXT_TELEMETRY_DISABLED: '1',
    },
  });
  const stop = async () => void (await child.end('SIGTERM', 3000));
  try {
    const [, url = ''] = await child.waitForLine(/^ready (\S+)/, 60_000);
    return { url, logs: () => child.logs(), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
