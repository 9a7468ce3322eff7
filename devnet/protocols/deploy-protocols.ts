import { setTimeout as sleep } from 'node:timers/promises';

import type { Address, Hex } from 'viem';

import type { DevnetContracts } from '../../packages/agent-kit/src/registry/devnet-contracts.js';
import { readContracts } from '../contracts.js';
import { callRpc } from '../json-rpc.js';
import { MULTICALL3, PERMIT2 } from '../place-contracts.js';
import { readArtifacts } from './artifacts.js';
import { planCreations } from './create-contracts.js';
import { assertDeployerIsFresh, sendAsDeployer } from './deployer.js';
import { seedLending } from './seed-lending.js';
import { seedPerps, seedPrices, seedStaking } from './seed-staking-and-perps.js';
import { seedTokens } from './seed-tokens.js';
import { seedUniswap } from './seed-uniswap.js';

export interface BareChain {
  rpcUrl: string;
  /** The USDC of the chain, which anyone may mint. */
  asset: Address;
  /** Accounts that receive some of each token. */
  accounts: readonly { address: Address }[];
}

/**
 * Deploys and seeds every protocol on a fresh devnet, in one block. The addresses are the same on every devnet, because
 * the deployer's nonce starts at 0; so a chain takes this once, and a second time throws.
 */
export async function deployProtocols({ rpcUrl, asset, accounts }: BareChain): Promise<DevnetContracts> {
  const [own, published] = await Promise.all([readContracts(), readArtifacts()]);
  const contracts = { ...own, ...published };
  const { codes, addresses } = planCreations(contracts, asset);
  await assertDeployerIsFresh(rpcUrl);
  await sendAsDeployer(rpcUrl, [
    ...codes.map((data) => ({ data })),
    ...seedTokens(
      addresses,
      accounts.map(({ address }) => address),
    ),
    ...seedPrices(addresses),
    ...seedUniswap(contracts, addresses),
    ...seedLending(contracts, addresses),
    ...seedStaking(contracts, addresses),
    ...seedPerps(contracts, addresses),
  ]);
  await awaitNextSecond(rpcUrl);
  return { multicall3: MULTICALL3, permit2: PERMIT2, ...addresses };
}

/**
 * Until the second of the latest block is over. A pool writes its first price record in the second after its seeding: what
 * a swap over two new pools was estimated to need before falls short by 62 % then.
 */
async function awaitNextSecond(rpcUrl: string): Promise<void> {
  const { timestamp } = (await callRpc(rpcUrl, 'eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
  const remainingMs = (Number(timestamp) + 1) * 1000 - Date.now();
  if (remainingMs > 0) await sleep(remainingMs);
}
