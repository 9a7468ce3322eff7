import { formatTokenSum } from '@tollgate/protocol';

import { CommandError } from '../shared/cli-command.js';
import { findConfiguredChains, readPaymentsFile } from '../shared/find-chain.js';
import type { OperatorApi } from './operator-api.js';

export const AMOUNT_COLUMNS = ['AMOUNT', 'SYMBOL', 'BASE UNITS'] as const;

/**
 * The cells of `AMOUNT_COLUMNS`, of an asset by `<chainId>:<address>` or `<chainId>:native`; of one that the seller's settings
 * do not describe, base units alone.
 */
export type ShowAmount = (asset: string | null, baseUnits: string | null) => readonly [string, string, string];

interface Unit {
  symbol: string;
  decimals: number;
}

const COIN: Unit = { symbol: 'native', decimals: 18 };
const MOST_DECIMALS = 36;

/** Knows the seller's tokens, and the chains' own coins. */
export async function readAmounts(operator: OperatorApi): Promise<ShowAmount> {
  const { options } = await operator.ask('GET /operator/seller', {});
  return showIn(
    options.flatMap(({ chainId, asset: token }): [string, Unit][] => [
      [`${chainId}:${token.address}`, token],
      [`${chainId}:native`, COIN],
    ]),
  );
}

/**
 * Knows the tokens of the settings, as the services read them; without PAYMENTS_FILE and ASSET_ADDRESS none.
 * @throws CommandError for a wrong setting
 */
export function readConfiguredAmounts(env: NodeJS.ProcessEnv): ShowAmount {
  const options = readPaymentsFile(env)?.options;
  if (options !== undefined)
    return showIn(options.map(({ chain, asset, ...token }) => [`${chain.id}:${asset}`, token]));
  const { ASSET_ADDRESS: address, ASSET_SYMBOL: symbol = '', ASSET_DECIMALS: decimals = '' } = env;
  if (!address) return showIn([]);
  if (!/^\d{0,2}$/.test(decimals) || Number(decimals) > MOST_DECIMALS)
    throw new CommandError(`ASSET_DECIMALS must be a whole number from 0 to ${MOST_DECIMALS}.`);
  // The defaults of the services.
  const token = { symbol: symbol || 'USDC', decimals: Number(decimals || 6) };
  return showIn(findConfiguredChains(env).map((chainId) => [`${chainId}:${address.toLowerCase()}`, token]));
}

function showIn(units: [asset: string, unit: Unit][]): ShowAmount {
  const known = new Map<string | null, Unit>(units);
  return (asset, baseUnits) => {
    const unit = known.get(asset);
    if (baseUnits === null) return ['-', unit?.symbol ?? '-', '-'];
    if (unit === undefined) return ['-', '-', baseUnits];
    return [formatTokenSum(BigInt(baseUnits), unit.decimals), unit.symbol, baseUnits];
  };
}
