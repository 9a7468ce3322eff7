import { isRecord } from '@tollgate/protocol';

/** A token known to the worker of a wallet. */
export interface KnownToken {
  symbol: string;
  /** `0x0` for the native token. */
  address: string;
  decimals: number;
  /** The texts that resolve to it besides its address, in lower case. */
  names: readonly string[];
}

/** Null for an invalid list of tokens, which another version may have written. */
export function parseKnownTokens(text: string): readonly KnownToken[] | null {
  try {
    const tokens: unknown = JSON.parse(text);
    return Array.isArray(tokens) && tokens.every(isKnownToken) ? tokens : null;
  } catch {
    return null;
  }
}

function isKnownToken(value: unknown): value is KnownToken {
  if (!isRecord(value)) return false;
  const { symbol, address, decimals, names } = value;
  const texts: unknown[] = [symbol, address, ...(Array.isArray(names) ? (names as unknown[]) : [null])];
  return texts.every((text) => typeof text === 'string') && Number.isInteger(decimals);
}
