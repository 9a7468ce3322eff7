import { writeFileSync } from 'node:fs';

import { listSignedMethods } from '@tollgate/protocol';
import { stringify } from 'yaml';

import type { DevnetTerms } from './chain.js';

/** A chain as the payments file names it, and the variables by which a process reaches it. */
export interface ChainOfFile {
  /** For the setting CHAIN. */
  readonly name: string;
  readonly network: string;
  readonly rpcVariable: string;
  readonly relayersVariable: string;
}

export const FIRST_OF_FILE: ChainOfFile = {
  name: 'devnet',
  network: 'chain-testnet',
  rpcVariable: 'DEVNET_RPC_URL',
  relayersVariable: 'DEVNET_RELAYERS',
};
export const SECOND_OF_FILE: ChainOfFile = {
  name: 'devnet-2',
  network: 'chain-testnet-2',
  rpcVariable: 'DEVNET_2_RPC_URL',
  relayersVariable: 'DEVNET_2_RELAYERS',
};

/** WDEV for a USDC. */
const WDEV_RATE = '0.0004';

type Described = DevnetTerms & { explorerUrl?: string; walletRpcUrl?: string };

/**
 * Writes a payments file with three options: `usdc-devnet`, `usdc-devnet-2` and `wdev-devnet-2`, whose token has 18 decimals
 * and no EIP-3009; where WDEV is on both chains, `wdev-devnet` too.
 */
export function writePaymentsFile(
  path: string,
  { first, second }: Record<'first' | 'second', Described>,
  { isWdevOnBoth = false } = {},
): void {
  const file = {
    chains: {
      [FIRST_OF_FILE.name]: describeChain(FIRST_OF_FILE, first),
      [SECOND_OF_FILE.name]: describeChain(SECOND_OF_FILE, second),
    },
    accepts: {
      [`usdc-${FIRST_OF_FILE.name}`]: describeUsdc(FIRST_OF_FILE, first),
      [`usdc-${SECOND_OF_FILE.name}`]: describeUsdc(SECOND_OF_FILE, second),
      [`wdev-${SECOND_OF_FILE.name}`]: describeWdev(SECOND_OF_FILE, second),
      ...(isWdevOnBoth && { [`wdev-${FIRST_OF_FILE.name}`]: describeWdev(FIRST_OF_FILE, first) }),
    },
  };
  writeFileSync(path, stringify(file, { defaultStringType: 'QUOTE_SINGLE', defaultKeyType: 'PLAIN' }));
}

function describeChain(
  { network, rpcVariable, relayersVariable }: ChainOfFile,
  { chainId, explorerUrl, walletRpcUrl }: Described,
): object {
  const connection = { rpc: `\${${rpcVariable}}`, relayers: `\${${relayersVariable}}` };
  // What is undefined is not written.
  return { id: chainId, network, ...connection, explorer: explorerUrl, walletRpc: walletRpcUrl };
}

/** The token signs nothing itself. */
function describeWdev({ name: chain }: ChainOfFile, { plainToken: token, payTo }: Described): object {
  const signed = listSignedMethods().filter(({ spender }) => spender !== null);
  const methods = [...signed.map(({ transferMethod }) => transferMethod), 'transfer'];
  return { chain, token, symbol: 'WDEV', decimals: 18, payTo, rate: WDEV_RATE, methods };
}

function describeUsdc({ name }: ChainOfFile, { asset, payTo }: Described): object {
  return { chain: name, token: asset, symbol: 'USDC', decimals: 6, version: '2', payTo };
}
