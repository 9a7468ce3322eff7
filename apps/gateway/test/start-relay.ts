import { randomBytes } from 'node:crypto';

import { REDIS_LOGGER } from '@tollgate/common';
import { Ledger, signedPaymentId } from '@tollgate/ledger';
import { nonceOf, payerOf, type Hex } from '@tollgate/protocol';
import { connectRedis } from '@tollgate/redis';
import {
  RequestReplyServer,
  queueOfChain,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  VERIFY_CONTRACT_SIGNATURE,
  VERIFY_QUEUE,
  VERIFY_SIGNED_PAYMENT,
  type ContractSignatureVerdict,
  type SettlementResult,
  type SettleSignedPaymentRequest,
  type SignedPaymentVerdict,
  type VerifyContractSignatureRequest,
  type VerifySignedPaymentRequest,
} from '@tollgate/transport';

import { agree, listen } from './start-gateway.js';

export type Settlement = (request: SettleSignedPaymentRequest) => Promise<SettlementResult> | SettlementResult;
export type Look = (request: VerifySignedPaymentRequest) => Promise<SignedPaymentVerdict> | SignedPaymentVerdict;

/**
 * A verifier and a relayer without a chain: they use the real transport and ledger. Every payment is valid, and settled
 * by the first settlement request, unless a test overrides it for its nonce.
 */
export interface Relay {
  readonly ledger: Ledger;
  readonly looks: Map<string, Look>;
  readonly settlements: Map<string, Settlement>;
  /** The transaction that settled each payment, by nonce. */
  readonly moved: Map<string, Hex>;
  readonly asked: SettleSignedPaymentRequest[];
  /** The verdicts of contracts about signatures, by address in lower case; any other contract accepts none. */
  readonly contracts: Map<string, ContractSignatureVerdict>;
  readonly claim: Look;
  readonly settle: Settlement;
  stop(): Promise<void>;
}

/** @param options `settles: false` starts no relayer */
export async function startRelay(redisUrl: string, { settles = true } = {}): Promise<Relay> {
  const redis = connectRedis({ url: redisUrl, role: 'test-relay', logger: REDIS_LOGGER });
  const ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 });
  await ledger.open({ chainId: 1328, blockNumber: 1 });
  const moved = new Map<string, Hex>();
  const asked: SettleSignedPaymentRequest[] = [];
  const [looks, settlements] = [new Map<string, Look>(), new Map<string, Settlement>()];
  const claim: Look = (request) => claimSigned(ledger, request, moved.get(nonceOf(request.payment)) ?? null);
  const settle: Settlement = ({ payment, amountBaseUnits }) => {
    const nonce = nonceOf(payment);
    const txHash = moved.get(nonce) ?? createHash();
    moved.set(nonce, txHash);
    return { outcome: 'settled', txHash, payer: payerOf(payment), amountBaseUnits };
  };
  // Questions that a test leaves unanswered must not delay the stop.
  const options = { redisUrl, closeTimeoutMs: 100 };
  const verifier = new RequestReplyServer({ ...options, queue: queueOfChain(VERIFY_QUEUE, 1328) });
  agree(verifier);
  verifier.addHandler(VERIFY_SIGNED_PAYMENT, async (request: VerifySignedPaymentRequest) =>
    (looks.get(nonceOf(request.payment)) ?? claim)(request),
  );
  const contracts = new Map<string, ContractSignatureVerdict>();
  verifier.addHandler(VERIFY_CONTRACT_SIGNATURE, ({ signer }: VerifyContractSignatureRequest) =>
    Promise.resolve(contracts.get(signer.toLowerCase()) ?? { outcome: 'not_signed' }),
  );
  const settler = new RequestReplyServer({ ...options, queue: queueOfChain(SETTLE_QUEUE, 1328) });
  settler.addHandler(SETTLE_SIGNED_PAYMENT, async (request: SettleSignedPaymentRequest) => {
    asked.push(request);
    return (settlements.get(nonceOf(request.payment)) ?? settle)(request);
  });
  await Promise.all([listen(verifier), ...(settles ? [listen(settler)] : [])]);
  const stop = async (): Promise<void> => {
    await Promise.all([verifier.close(), settler.close()]);
    redis.disconnect();
  };
  return { ledger, looks, settlements, moved, asked, contracts, claim, settle, stop };
}

async function claimSigned(
  ledger: Ledger,
  { claim, terms, payment, deadlineMs }: VerifySignedPaymentRequest,
  txHash: Hex | null,
): Promise<SignedPaymentVerdict> {
  const payer = payerOf(payment);
  if (claim === null) return { outcome: 'valid', payer, txHash };
  const candidate = {
    id: signedPaymentId(terms, payment),
    blockNumber: 1_000_000,
    minedAtMs: ledger.nowMs() + 60_000,
    windowMs: 900_000,
  };
  const { mustBeSettled, ...claimed } = claim;
  if (mustBeSettled && txHash === null) {
    const isHeld = await ledger.isLeased(candidate.id);
    return isHeld
      ? { outcome: 'busy', retryAfterMs: 1000 }
      : { outcome: 'refused', failure: 'unknown_reference', payer };
  }
  const result = await ledger.claim({ candidates: [candidate], ...claimed, deadlineMs, headBlockNumber: 1 });
  switch (result.outcome) {
    case 'claimed':
      return { outcome: 'claimed', lease: result.lease, payer, txHash };
    case 'used':
      return { outcome: 'refused', failure: 'payment_used', payer };
    case 'late':
      return { outcome: 'unavailable', reason: 'late' };
    case 'refused':
      return { outcome: 'refused', failure: result.failure, payer };
    default:
      return result;
  }
}

export function createHash(): Hex {
  return `0x${randomBytes(32).toString('hex')}`;
}
