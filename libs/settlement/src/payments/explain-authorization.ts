import {
  askForBalance,
  type ChainReader,
  lookUpAuthorization,
  malformed,
  readWord,
  type RpcBatcher,
  RPC_TIMEOUT_MS,
} from '@tollgate/chain';
import type { SettlementResult } from '@tollgate/common';
import type { Hex, PaymentFailure } from '@tollgate/protocol';

import { settledBy, type AuthorizationEntry } from './payment-entry.js';

/** The chain clients that settlements are read with. */
export interface SettledChain {
  batcher: RpcBatcher;
  reader: ChainReader;
}

export interface UnsettledTerms {
  /** For the log: the request that began the settlement. */
  requestId: string;
  chainId: number;
  /** The transaction that did not settle the payment. */
  txHash: Hex | null;
  /** The failure to report when the chain shows no reason. */
  failure: PaymentFailure;
  windowMs: number;
  nowMs: () => number;
}

/**
 * Finds out what became of a payment that no transaction of ours can settle any more. A third party may have sent it,
 * and then it is settled; otherwise the reason is returned.
 * @throws ChainUnavailableError
 */
export async function explainAuthorization(
  { batcher, reader }: SettledChain,
  entry: AuthorizationEntry,
  { txHash, failure, windowMs, nowMs }: UnsettledTerms,
): Promise<SettlementResult> {
  const startedAtMs = nowMs();
  const deadlineMs = startedAtMs + RPC_TIMEOUT_MS;
  const lookUp = { promised: entry, sinceMs: startedAtMs - windowMs, deadlineMs };
  const sighting = await lookUpAuthorization(reader, lookUp);
  switch (sighting.outcome) {
    case 'settled':
      return settledBy(entry, sighting.txHash, entry.amountBaseUnits);
    case 'cancelled':
      return { outcome: 'failed', failure: 'authorization_cancelled', txHash: sighting.txHash };
    case 'used':
      // Not found means older than the searched range: the nonce may have paid for something.
      return {
        outcome: 'failed',
        failure: sighting.txHash === null ? 'payment_too_old' : 'payment_used',
        txHash: sighting.txHash,
      };
    case 'unused':
      return { outcome: 'failed', failure: await findReason(batcher, entry, { failure, nowMs, deadlineMs }), txHash };
  }
}

async function findReason(
  batcher: RpcBatcher,
  { asset, authorization }: AuthorizationEntry,
  { failure, nowMs, deadlineMs }: { failure: PaymentFailure; nowMs: () => number; deadlineMs: number },
): Promise<PaymentFailure> {
  const nowSeconds = BigInt(Math.floor(nowMs() / 1000));
  if (BigInt(authorization.validBefore) <= nowSeconds) return 'authorization_expired';
  if (BigInt(authorization.validAfter) >= nowSeconds) return 'authorization_not_yet_valid';
  const balance = await readPayerBalance(batcher, asset, authorization.from, deadlineMs);
  return balance < BigInt(authorization.value) ? 'balance_too_low' : failure;
}

/**
 * The token balance of an account in the newest block.
 * @throws ChainUnavailableError
 */
export function readPayerBalance(batcher: RpcBatcher, asset: Hex, owner: Hex, deadlineMs: number): Promise<bigint> {
  return batcher.ask({
    calls: [askForBalance(asset, owner)],
    deadlineMs,
    read: ([balance]) => readWord(balance) ?? malformed('no token balance'),
  });
}
