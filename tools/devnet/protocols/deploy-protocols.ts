import type { Address } from 'viem';

import type { DevnetContracts } from '../../../packages/agent-kit/src/registry/devnet-contracts.js';
import { readContracts } from '../contracts/contracts.js';
import { readArtifacts } from './artifacts.js';
import { planCreations } from './create-contracts.js';
import { assertDeployerIsFresh, sendAsDeployer } from './deployer.js';
import { MULTICALL3 } from './place-contracts.js';
import { seedProtocols } from './seed-protocols.js';

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
  const receivers = accounts.map(({ address }) => address);
  const { codes, addresses } = planCreations(contracts, asset);
  await assertDeployerIsFresh(rpcUrl);
  await sendAsDeployer(rpcUrl, [...codes.map((data) => ({ data })), ...seedProtocols(contracts, addresses, receivers)]);
  return { multicall3: MULTICALL3, ...addresses };
}
