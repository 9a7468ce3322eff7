import type { Hex } from '@tollgate/protocol';

/** What has to be known of a payment to tell its payer once more that it was made. */
export interface KeptReceipt {
  /** Null where it came to nothing. */
  readonly txHash: Hex | null;
  /** What was moved of a maximum; undefined where the price was. */
  readonly amountBaseUnits?: string | undefined;
}

const TEXT = /^([\w-]{43})?(?: (\d{1,78}))?$/;

/** In 43 characters, and as many more as a metered amount has: the ledger keeps one for many payments. */
export function encodeReceipt({ txHash, amountBaseUnits }: KeptReceipt): string {
  const hash = txHash === null ? '' : Buffer.from(txHash.slice(2), 'hex').toString('base64url');
  return amountBaseUnits === undefined ? hash : `${hash} ${amountBaseUnits}`;
}

/** The inverse of `encodeReceipt`; null for what it did not write. */
export function decodeReceipt(text: string): KeptReceipt | null {
  const [match, hash, amountBaseUnits] = TEXT.exec(text) ?? [];
  if (match === undefined) return null;
  const txHash: Hex | null = hash === undefined ? null : `0x${Buffer.from(hash, 'base64url').toString('hex')}`;
  return { txHash, ...(amountBaseUnits === undefined ? {} : { amountBaseUnits }) };
}
