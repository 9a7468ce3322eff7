import { encodeFunctionData, parseAbi, parseUnits } from 'viem';

import type { PlannedAddresses } from './create-contracts.js';
import { sendAsDeployer, type DeployerCall } from './deployer.js';

const abi = parseAbi(['function setPrice(string asset, uint256 price)']);

/** An asset of the oracle, which lending and perps read; the pools of Uniswap have prices of their own. */
export type PricedAsset = 'USDC' | 'SEI' | 'BTC' | 'ETH' | 'ATOM';

/** Sets an asset's price, in USD per whole unit as decimal text, and waits until it holds. */
export async function setPrice(
  chain: { rpcUrl: string; contracts: Pick<PlannedAddresses, 'lending'> },
  asset: PricedAsset,
  price: string,
): Promise<void> {
  await sendAsDeployer(chain.rpcUrl, [encodeSetPrice(chain.contracts, asset, price)]);
}

/** The oracle's call that sets a price; its owner, the deployer, has to send it. */
export function encodeSetPrice(
  { lending }: Pick<PlannedAddresses, 'lending'>,
  asset: PricedAsset,
  price: string,
): DeployerCall {
  return { to: lending.oracle, data: encodeFunctionData({ abi, args: [asset, parseUnits(price, 18)] }) };
}
