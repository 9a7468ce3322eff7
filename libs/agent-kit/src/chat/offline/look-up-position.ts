import type { Intent } from './intent.js';
import { isObject, type JsonObject } from './read-turns.js';

interface LookUp {
  /** What is missing when a person says "my position". */
  slot: string;
  /** The reading that lists what there is. */
  reading: string;
  pattern: RegExp;
  fits: (row: JsonObject, wanted: NonNullable<Intent['wanted']>, said: Intent['input']) => boolean;
  none: string;
}

const tickerOf = (side: unknown): string => {
  const token = isObject(side) ? side.token : undefined;
  return isObject(token) && typeof token.ticker === 'string' ? token.ticker : '';
};

const LOOK_UPS: Readonly<Record<string, LookUp>> = {
  perpsClosePosition: {
    slot: 'product',
    reading: 'perpsGetPositions',
    pattern: /^[A-Z0-9]{1,12}-PERP$/,
    fits: ({ side, product }, wanted, said) =>
      (wanted.side === undefined || side === wanted.side) && (said.product === undefined || product === said.product),
    none: 'There is no such open perpetual position.',
  },
  removeLiquidity: {
    slot: 'positionId',
    reading: 'getLiquidityPositions',
    pattern: /^\d{1,78}$/,
    fits: ({ tokenA, tokenB }, { tokens }) =>
      (tokens?.split(' ') ?? []).every((token) => [tickerOf(tokenA), tickerOf(tokenB)].includes(token)),
    none: 'There is no such liquidity position.',
  },
};

/** The reading that may tell the one input that is missing, or whether "my BTC short" is one; or null. */
export function findLookUp({ operation, missing, problems, wanted }: Intent): LookUp | null {
  const lookUp = LOOK_UPS[operation];
  if (!lookUp || problems.length > 0) return null;
  const isMissing = missing.length === 1 && missing[0] === lookUp.slot;
  return isMissing || (missing.length === 0 && wanted?.side !== undefined) ? lookUp : null;
}

/** What of the listed positions fits; a text of the chain that has not the form of a name is none. */
export function findPositions(intent: Intent, { slot, pattern, fits }: LookUp, data: JsonObject): string[] {
  const rows = Array.isArray(data.positions) ? data.positions.filter(isObject) : [];
  return rows.flatMap((row) => {
    const value = row[slot];
    return typeof value === 'string' && pattern.test(value) && fits(row, intent.wanted ?? {}, intent.input)
      ? [value]
      : [];
  });
}
