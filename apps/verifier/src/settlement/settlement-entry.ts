import { hash } from 'node:crypto';

import { type ContractCall, type PayerSignature, planTransfer, type PromisedTransfer } from '@tollgate/chain';
import type { Hex, TransferAuthorization } from '@tollgate/protocol';

/** One payment to be settled, as carried by a relayer's job. Addresses are lower case. */
export interface SettlementEntry {
  asset: Hex;
  payTo: Hex;
  /** What `payTo` receives, in base units. */
  amountBaseUnits: string;
  authorization: TransferAuthorization;
  signature: PayerSignature;
}

/**
 * A name for everything that was signed, in 22 characters. Two authorizations with one nonce are two settlements: the
 * token accepts one of them, and each is judged by its own terms.
 */
export function nameSettlement(chainId: number, entry: Omit<SettlementEntry, 'signature'>): string {
  const { asset, payTo, amountBaseUnits, authorization } = entry;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const parts = [chainId, asset, payTo, amountBaseUnits, from, to, value, validAfter, validBefore, nonce];
  return Buffer.from(hash('sha256', parts.join(' '), 'hex').slice(0, 32), 'hex').toString('base64url');
}

/** The call that settles the payment alone. `isDeployed`: the payer's contract exists. */
export function planEntry(
  { asset, authorization, signature }: SettlementEntry,
  places: { multicall3: Hex; isDeployed: boolean },
): ContractCall {
  return planTransfer(authorization, signature, { ...places, asset });
}

/**
 * The contract that deploys the payer if it has no code yet; null when the payer must already have code or use its own
 * key.
 */
export function factoryOf({ signature }: Pick<SettlementEntry, 'signature'>): Hex | null {
  return signature.kind === 'contract' && signature.deployment !== null ? signature.deployment.to : null;
}

/**
 * Whether the payment may share a transaction: only the token's code runs, which takes about the same gas each time.
 */
export function isShareable({ signature }: SettlementEntry): boolean {
  return signature.kind === 'account';
}

/** The transfer that the logs must show. */
export function promiseOf({ asset, payTo, authorization }: SettlementEntry): PromisedTransfer {
  return { asset, payTo, authorization };
}

export function payerOf({ authorization }: SettlementEntry): Hex {
  return authorization.from;
}
