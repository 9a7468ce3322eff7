import { join } from 'node:path';

import type { Hex } from 'viem';

import type { Devnet } from '../chain.js';
import { startChild } from '../child-process.js';
import { repositoryRoot } from '../repository.js';

/**
 * The clients by the names of their programs in test/interop/clients; all but the first two are published by others.
 */
export type ClientName =
  'tollgate' | 'tollgate-axios' | 'x402-fetch' | 'x402-axios' | 'x402-fetch-v2' | 'x402-axios-v2' | 'mppx';

export interface ClientOptions {
  /** The devnet's account that pays. */
  payer: { address: Hex; privateKey: Hex };
  /** Which of the offers of a version 2 challenge it takes; without it the first. */
  scheme?: 'exact' | 'upto';
  transferMethod?: 'eip3009' | 'permit2';
  /** Names its payments by the extension `payment-identifier`. */
  paymentId?: string;
  /** Signs in by the extension `sign-in-with-x` before it pays. */
  signsIn?: boolean;
  /** Repeats a request that got 409, 503 or no answer; the clients that take a `fetch` can. */
  retries?: boolean;
}

/** The result for the client's caller. */
export interface ClientAnswer {
  status: number;
  body: string;
  /** The settlement header as the package itself decodes it. */
  receipt: Record<string, unknown> | null;
}

export interface RunningClient {
  /** Makes the client fetch the resource, and pay for it if needed. Throws the client's message if it fails. */
  fetch(
    url: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<ClientAnswer>;
  stop(): Promise<void>;
}

/** Starts a program with one client, as it was published. The packages of test/interop must be installed. */
export async function startClient(
  name: ClientName,
  chain: Devnet,
  { payer, ...options }: ClientOptions,
): Promise<RunningClient> {
  const { rpcUrl, chainId, asset } = chain;
  const configuration = {
    rpcUrl,
    chainId,
    asset,
    assetName: 'USDC',
    assetVersion: '2',
    maxAmount: '100000',
    ...options,
  };
  const isOurs = name.startsWith('tollgate');
  const child = await startChild({
    name,
    command: process.execPath,
    args: [
      ...(isOurs ? ['--import', 'tsx'] : []),
      join(repositoryRoot(), 'test', 'interop', 'clients', 'serve-client.mjs'),
      `${name}.${isOurs ? 'ts' : 'mjs'}`,
    ],
    cwd: repositoryRoot(),
    env: {
      PATH: process.env['PATH'],
      INTEROP_CLIENT: JSON.stringify({ ...configuration, privateKey: payer.privateKey }),
    },
  });
  const stop = async () => void (await child.end('SIGTERM', 2000));
  try {
    const [, address = ''] = await child.waitForLine(/^ready (\S+)/, 60_000);
    return {
      fetch: async (url, init = {}) => {
        const response = await fetch(address, { method: 'POST', body: JSON.stringify({ url, ...init }) });
        const answer = (await response.json()) as ClientAnswer | { gaveUp: string };
        if ('gaveUp' in answer) throw new Error(`${name} gave up: ${answer.gaveUp}`);
        return answer;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
