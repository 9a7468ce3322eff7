import { hash } from 'node:crypto';

import type { Hex, TransferAuthorization } from '@tollgate/protocol';

import type { ContractCall } from '../authorizations/contract-call.js';
import type { PromisedTransfer } from '../authorizations/has-settlement.js';
import type { PayerSignature } from '../authorizations/payer-signature.js';
import { planTransfer } from '../authorizations/plan-transfer.js';

/** One payment to be settled, as a relayer's job carries it. Addresses are lower case. */
export interface SettlementEntry {
  asset: Hex;
  payTo: Hex;
  /** What `payTo` receives, in base units. */
  amountBaseUnits: string;
  authorization: TransferAuthorization;
  signature: PayerSignature;
}

/**
 * Names all that was signed, in 22 characters. Two authorizations under one nonce are two settlements: the token takes
 * one of them, and each is judged by what it itself promised.
 */
export function nameSettlement(chainId: number, entry: Omit<SettlementEntry, 'signature'>): string {
  const { asset, payTo, amountBaseUnits, authorization } = entry;
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const parts = [chainId, asset, payTo, amountBaseUnits, from, to, value, validAfter, validBefore, nonce];
  return Buffer.from(hash('sha256', parts.join(' '), 'hex').slice(0, 32), 'hex').toString('base64url');
}

/** What settles the payment by itself; `isDeployed`: the payer's contract is there. */
export function planEntry(
  { asset, authorization, signature }: SettlementEntry,
  places: { multicall3: Hex; isDeployed: boolean },
): ContractCall {
  return planTransfer(authorization, signature, { ...places, asset });
}

/** The contract that deploys the payer where it has no code yet; null: it must have. */
export function factoryOf({ signature }: Pick<SettlementEntry, 'signature'>): Hex | null {
  return signature.kind === 'contract' && signature.deployment !== null ? signature.deployment.to : null;
}

/** Whether it may share a transaction: what runs is the token's code alone, which takes about as much gas each time. */
export function isShareable({ signature }: SettlementEntry): boolean {
  return signature.kind === 'account';
}

/** What has to stand in the logs. */
export function promiseOf({ asset, payTo, authorization }: SettlementEntry): PromisedTransfer {
  return { asset, payTo, authorization };
}

export function payerOf({ authorization }: SettlementEntry): Hex {
  return authorization.from;
}
