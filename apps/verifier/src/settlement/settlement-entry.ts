import { hash } from 'node:crypto';

import type { Hex, SignedAuthorization } from '@tollgate/protocol';

/** One payment to be settled, as a relayer's job carries it. Addresses are lower case. */
export interface SettlementEntry {
  asset: Hex;
  payTo: Hex;
  /** What `payTo` receives, in base units. */
  amountBaseUnits: string;
  payment: SignedAuthorization;
}

/**
 * Names all that was signed, in 22 characters. Two authorizations under one nonce are two settlements: the token takes
 * one of them, and each is judged by what it itself promised.
 */
export function nameSettlement(chainId: number, { asset, payTo, amountBaseUnits, payment }: SettlementEntry): string {
  const { from, to, value, validAfter, validBefore, nonce } = payment.authorization;
  const parts = [chainId, asset, payTo, amountBaseUnits, payment.kind, from, to, value, validAfter, validBefore, nonce];
  return Buffer.from(hash('sha256', parts.join(' '), 'hex').slice(0, 32), 'hex').toString('base64url');
}
