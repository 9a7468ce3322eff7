import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  getContract,
  type Address,
} from 'viem';

import { ignoreUnknownToken } from '../../tokens/resolve-token.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Token } from '../../types/token.js';
import { quoteUntrusted } from '../../types/untrusted-text.js';
import type { ProtocolEnvironment } from '../protocol.js';
import { comptrollerAbi, marketAbi } from './compound-abi.js';

export interface Market {
  address: Address;
  token: Token;
}

export interface MarketDirectory {
  /** The comptroller's markets whose token can be read. The list is read each time; a market's token once. */
  list(): Promise<readonly Market[]>;
  /** @throws AgentKitError `UNKNOWN_TOKEN` with the tokens that have a market. */
  find(reference: string): Promise<Market>;
}

/**
 * The markets of a comptroller. A token that is not in the token list is shown by its address, because its contract can
 * choose any symbol.
 * @param nativeMarkets those of the native token, which have no `underlying`.
 */
export function createMarketDirectory(
  { client, tokens }: ProtocolEnvironment,
  comptroller: Address,
  nativeMarkets: readonly Address[],
): MarketDirectory {
  const natives = new Set(nativeMarkets.map((address) => address.toLowerCase()));
  const known = new Map<Address, Promise<Market | null>>();

  const readMarket = async (address: Address): Promise<Market | null> => {
    if (natives.has(address.toLowerCase())) return { address, token: tokens.native };
    try {
      const token = await tokens.resolve(await getContract({ address, abi: marketAbi, client }).read.underlying());
      return { address, token: token.isListed ? token : { ...token, symbol: token.address } };
    } catch (error) {
      if (isWithoutToken(error)) return null;
      throw error;
    }
  };

  const list = async (): Promise<readonly Market[]> => {
    const addresses = await getContract({ address: comptroller, abi: comptrollerAbi, client }).read.getAllMarkets();
    const markets = await Promise.all(
      addresses.map((address) => {
        const reading = known.get(address) ?? readMarket(address);
        known.set(address, reading);
        return reading.catch((error: unknown) => {
          known.delete(address);
          throw error;
        });
      }),
    );
    return markets.filter((market) => market !== null);
  };

  return {
    list,
    async find(reference) {
      const markets = await list();
      const token = await tokens.resolve(reference).catch(ignoreUnknownToken);
      const market = markets.find(({ token: { address } }) => address === token?.address);
      if (market) return market;
      const symbols = markets.map(({ token: { symbol } }) => symbol);
      throw new AgentKitError(
        'UNKNOWN_TOKEN',
        `${quoteUntrusted(reference, 64)} has no lending market; there are markets for ${symbols.join(', ')}.`,
        { details: { symbol: reference.slice(0, 64), markets: symbols } },
      );
    },
  };
}

/** True for a market without a token, or with an invalid one; false when the node did not answer. */
function isWithoutToken(error: unknown): boolean {
  if (error instanceof AgentKitError) return error.code === 'UNKNOWN_TOKEN';
  if (!(error instanceof BaseError)) return false;
  const refusal = error.walk(
    (cause) => cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError,
  );
  return refusal !== null;
}
