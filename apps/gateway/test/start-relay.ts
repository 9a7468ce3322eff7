import { randomBytes } from 'node:crypto';

import {
  connectRedis,
  RequestReplyServer,
  SETTLE_QUEUE,
  SETTLE_SIGNED_PAYMENT,
  VERIFY_QUEUE,
  VERIFY_SIGNED_PAYMENT,
  type SettlementResult,
  type SettleSignedPaymentRequest,
  type SignedPaymentVerdict,
  type VerifySignedPaymentRequest,
} from '@tollgate/common';
import { Ledger, type PaymentId } from '@tollgate/ledger';
import type { Hex, SignedPayment } from '@tollgate/protocol';

export type Settlement = (request: SettleSignedPaymentRequest) => Promise<SettlementResult> | SettlementResult;
export type Look = (request: VerifySignedPaymentRequest) => Promise<SignedPaymentVerdict> | SignedPaymentVerdict;

/**
 * Verifier and relayer without a chain: the real transport and the real ledger. Every payment is good, and settled when
 * it is asked for the first time, unless a test says otherwise for its nonce.
 */
export interface Relay {
  readonly ledger: Ledger;
  readonly looks: Map<string, Look>;
  readonly settlements: Map<string, Settlement>;
  /** The transaction that moved each payment, by its nonce. */
  readonly moved: Map<string, Hex>;
  readonly asked: SettleSignedPaymentRequest[];
  readonly claim: Look;
  readonly settle: Settlement;
  stop(): Promise<void>;
}

export async function startRelay(redisUrl: string): Promise<Relay> {
  const redis = connectRedis({ url: redisUrl, role: 'test-relay' });
  const ledger = new Ledger({ redis });
  await ledger.open({ headBlockNumber: 1 });
  const moved = new Map<string, Hex>();
  const asked: SettleSignedPaymentRequest[] = [];
  const [looks, settlements] = [new Map<string, Look>(), new Map<string, Settlement>()];
  const claim: Look = (request) => claimAuthorization(ledger, request, moved.get(nonceOf(request.payment)) ?? null);
  const settle: Settlement = ({ payment, amountBaseUnits }) => {
    const nonce = nonceOf(payment);
    const txHash = moved.get(nonce) ?? createHash();
    moved.set(nonce, txHash);
    return { outcome: 'settled', txHash, payer: payerOf(payment), amountBaseUnits };
  };
  const verifier = new RequestReplyServer({ redisUrl, queue: VERIFY_QUEUE });
  verifier.addHandler(VERIFY_SIGNED_PAYMENT, async (request: VerifySignedPaymentRequest) =>
    (looks.get(nonceOf(request.payment)) ?? claim)(request),
  );
  const settler = new RequestReplyServer({ redisUrl, queue: SETTLE_QUEUE });
  settler.addHandler(SETTLE_SIGNED_PAYMENT, async (request: SettleSignedPaymentRequest) => {
    asked.push(request);
    return (settlements.get(nonceOf(request.payment)) ?? settle)(request);
  });
  await Promise.all([listen(verifier), listen(settler)]);
  const stop = async (): Promise<void> => {
    await Promise.all([verifier.close(), settler.close()]);
    redis.disconnect();
  };
  return { ledger, looks, settlements, moved, asked, claim, settle, stop };
}

async function claimAuthorization(
  ledger: Ledger,
  { claim, terms, payment, deadlineMs }: VerifySignedPaymentRequest,
  txHash: Hex | null,
): Promise<SignedPaymentVerdict> {
  const payer = payerOf(payment);
  if (claim === null) return { outcome: 'valid', payer, txHash };
  const { chainId, asset } = terms;
  const id: PaymentId = { kind: 'authorization', chainId, asset, from: payer, nonce: nonceOf(payment) as Hex };
  const candidate = { id, blockNumber: 1_000_000, minedAtMs: ledger.nowMs() + 60_000, windowMs: 900_000 };
  const result = await ledger.claim({ candidates: [candidate], ...claim, deadlineMs, headBlockNumber: 1 });
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

function nonceOf(payment: SignedPayment): string {
  return payment.kind === 'authorization' ? payment.authorization.nonce : payment.permit2Authorization.nonce;
}

function payerOf(payment: SignedPayment): Hex {
  return payment.kind === 'authorization' ? payment.authorization.from : payment.permit2Authorization.from;
}

function listen(server: RequestReplyServer): Promise<void> {
  return new Promise((resolve, reject) => {
    void server.listen((error) =>
      error === undefined ? resolve() : reject(new Error('The transport did not start.', { cause: error })),
    );
  });
}
