import type { Hex } from 'viem';

import type { Devnet } from '../chain/chain.js';
import { startProgram, type Program } from '../processes/start-program.js';

/**
 * The clients by the names of their programs in test/interop/clients; all but the first three are published by others.
 */
export type ClientName =
  | 'tollgate'
  | 'tollgate-axios'
  | 'tollgate-kit'
  | 'x402-fetch'
  | 'x402-axios'
  | 'x402-fetch-v2'
  | 'x402-axios-v2'
  | 'mppx';

export interface ClientOptions {
  /** The devnet's account that pays. */
  payer: { address: Hex; privateKey: Hex };
  /** Which of the offers of a version 2 challenge it takes; without it the first. */
  scheme?: 'exact' | 'upto';
  transferMethod?: string;
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

/** The programs of test/interop/servers; all but the first use published middlewares. */
export type ServerName =
  | 'tollgate'
  | 'x402-express'
  | 'x402-hono'
  | 'x402-express-v2'
  | 'x402-hono-v2'
  | 'next'
  | 'mppx';

export interface ServerOptions {
  payTo: Hex;
  priceBaseUnits: bigint;
  /** Its facilitator, and the headers that it authenticates with. */
  facilitatorUrl: string;
  facilitatorHeaders?: Record<string, string>;
}

/** Starts a program with one client, as it was published. The packages of test/interop must be installed. */
export async function startClient(
  name: ClientName,
  chain: Devnet,
  { payer, ...options }: ClientOptions,
): Promise<RunningClient> {
  const { url: address, stop } = await startProgram(['test/interop/clients/serve-client.mjs', fileOf(name)], {
    INTEROP_CLIENT: JSON.stringify({
      rpcUrl: chain.rpcUrl,
      ...tokenOf(chain),
      maxAmount: '100000',
      ...options,
      privateKey: payer.privateKey,
    }),
  });
  return {
    fetch: async (url, init = {}) => {
      const response = await fetch(address, { method: 'POST', body: JSON.stringify({ url, ...init }) });
      const answer = (await response.json()) as ClientAnswer | { gaveUp: string };
      if ('gaveUp' in answer) throw new Error(`${name} gave up: ${answer.gaveUp}`);
      return answer;
    },
    stop,
  };
}

/** Starts a program that sells `/quote` and `/broken` behind a published middleware. The packages must be installed. */
export function startServer(name: ServerName, chain: Devnet, options: ServerOptions): Promise<Program> {
  const { priceBaseUnits, facilitatorHeaders = {}, ...others } = options;
  const configuration = { ...tokenOf(chain), ...others, priceBaseUnits: String(priceBaseUnits), facilitatorHeaders };
  return startProgram([`test/interop/servers/${fileOf(name)}`], {
    // One is Next's development server.
    NODE_ENV: undefined,
    INTEROP_SERVER: JSON.stringify(configuration),
    NEXT_TELEMETRY_DISABLED: '1',
  });
}

function fileOf(name: ClientName | ServerName): string {
  return `${name}.${name.startsWith('tollgate') ? 'ts' : 'mjs'}`;
}

function tokenOf({ chainId, asset }: Devnet) {
  return { chainId, asset, assetName: 'USDC', assetVersion: '2' };
}
