import type { Address, PublicClient } from 'viem';

import { AgentKitError } from '../../agent-kit-error.js';
import type { LendingHolding } from './account-liquidity.js';
import { comptrollerAbi, marketAbi, priceOracleAbi } from './compound-abi.js';
import type { Market } from './read-markets.js';

export interface MarketHolding extends LendingHolding {
  market: Market;
}

/**
 * An account's supplies and debts in every market it uses, with interest up to now. Prices are read for these markets
 * only, so a broken oracle of another market does no harm.
 * @param wanted a market that is read even if the account does not use it.
 * @throws AgentKitError `PROTOCOL_FAILED` when it uses a market that the kit cannot read: every total would be wrong.
 */
export async function readHoldings(
  client: PublicClient,
  comptroller: Address,
  markets: readonly Market[],
  account: Address,
  wanted?: Market,
): Promise<MarketHolding[]> {
  const [entered, oracle] = await Promise.all([
    client.readContract({
      address: comptroller,
      abi: comptrollerAbi,
      functionName: 'getAssetsIn',
      args: [account],
    }),
    client.readContract({ address: comptroller, abi: comptrollerAbi, functionName: 'oracle' }),
  ]);
  const unknown = entered.find((address) => !markets.some((market) => market.address === address));
  if (unknown !== undefined) {
    throw new AgentKitError('PROTOCOL_FAILED', `The account uses the market ${unknown}, whose token cannot be read.`, {
      details: { market: unknown },
    });
  }
  const holdings = await Promise.all(
    markets.map(async (market): Promise<MarketHolding | null> => {
      const contract = { address: market.address, abi: marketAbi } as const;
      const [shares, borrowed] = await Promise.all([
        client.readContract({ ...contract, functionName: 'balanceOf', args: [account] }),
        client.readContract({ ...contract, functionName: 'borrowBalanceCurrent', args: [account] }),
      ]);
      if (shares === 0n && borrowed === 0n && market.address !== wanted?.address) return null;
      const [exchangeRate, price, [, collateralFactor]] = await Promise.all([
        client.readContract({ ...contract, functionName: 'exchangeRateCurrent' }),
        client.readContract({
          address: oracle,
          abi: priceOracleAbi,
          functionName: 'getUnderlyingPrice',
          args: [market.address],
        }),
        client.readContract({
          address: comptroller,
          abi: comptrollerAbi,
          functionName: 'markets',
          args: [market.address],
        }),
      ]);
      const isEntered = entered.includes(market.address);
      return { market, isEntered, shares, borrowed, exchangeRate, price, collateralFactor };
    }),
  );
  return holdings.filter((holding) => holding !== null);
}
