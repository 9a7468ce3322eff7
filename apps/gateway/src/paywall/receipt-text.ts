import type { Hex } from '@tollgate/protocol';

/** The stored facts of a payment from which its receipt can be sent again. */
export interface KeptReceipt {
  /** Null where the charge was zero. */
  readonly txHash: Hex | null;
  /** The charged amount of a metered payment; undefined for a fixed price. */
  readonly amountBaseUnits?: string | undefined;
}

const TEXT = /^([\w-]{43})?(?: (\d{1,78}))?$/;

/** Takes 43 characters, plus those of a metered amount: the ledger stores one receipt for each of many payments. */
export function encodeReceipt({ txHash, amountBaseUnits }: KeptReceipt): string {
  const hash = txHash === null ? '' : Buffer.from(txHash.slice(2), 'hex').toString('base64url');
  return amountBaseUnits === undefined ? hash : `${hash} ${amountBaseUnits}`;
}

/** The inverse of `encodeReceipt`; null for text in another format. */
export function decodeReceipt(text: string): KeptReceipt | null {
  const [match, hash, amountBaseUnits] = TEXT.exec(text) ?? [];
  if (match === undefined) return null;
  const txHash: Hex | null = hash === undefined ? null : `0x${Buffer.from(hash, 'base64url').toString('hex')}`;
  return { txHash, ...(amountBaseUnits === undefined ? {} : { amountBaseUnits }) };
}
