import { formatTokenAmount, IDEMPOTENCY_KEY, type SignedPayment } from '@tollgate/protocol';

import { signAndSend } from '../account/send.js';
import type { SignedTransaction } from '../account/signed-transaction.js';
import type { Wallet } from '../account/wallet.js';
import type { RequestSnapshot } from '../network/request-snapshot.js';
import { claimChallenge, isCharge } from '../offer/charge-requirement.js';
import type { AllowedOffer } from '../offer/judge-offers.js';
import { isSignable, methodOfOffer, type SignableRequirement } from '../offer/signable-requirement.js';
import { endsAtMs, type StoredPayment, type StoredRevision } from '../store/payment-store.js';
import { chooseOffer } from './choose-offer.js';
import { createPaymentCall, createPaymentToSign } from './create-payment-to-sign.js';
import { createRandomHex } from './hex.js';
import type { PaymentContext } from './payment-options.js';
import type { Offers } from './read-offers.js';

type Chosen = AllowedOffer<Wallet>;

function createIntention(request: RequestSnapshot, { wallet, requirement }: Chosen): StoredPayment {
  return {
    state: 'intended',
    method: request.method,
    url: request.url,
    requestHash: request.hash,
    idempotencyKey: request.headers.get(IDEMPOTENCY_KEY) ?? createRandomHex(16),
    chainId: wallet.chainId,
    payer: wallet.address,
    requirement,
    createdAtMs: Date.now(),
    transaction: null,
    authorization: null,
    moves: 0,
    movedTo: null,
  };
}

/** Signs a payment that the server or its facilitator submits. */
async function signTransfer(
  context: PaymentContext,
  chosen: AllowedOffer<Wallet, SignableRequirement>,
  signal: AbortSignal | null,
): Promise<SignedPayment> {
  const { requirement, wallet } = chosen;
  const method = methodOfOffer(requirement);
  if (!isCharge(requirement)) await method.prepare?.({ ...context, wallet }, { ...chosen, requirement }, signal);
  return method.sign(wallet, createPaymentToSign(requirement, wallet.address, `0x${createRandomHex(32)}`));
}

/**
 * Signs, stores the payment with `keep`, and sends the transaction if there is one. Returns when it was sent, 0 if it was
 * not; null when another process was faster.
 */
async function commit(
  context: PaymentContext,
  request: RequestSnapshot,
  chosen: Chosen,
  keep: (signed: Pick<StoredPayment, 'transaction' | 'authorization'>) => Promise<boolean>,
): Promise<number | null> {
  const { requirement, wallet } = chosen;
  if (isSignable(requirement)) {
    const authorization = await signTransfer(context, { ...chosen, requirement }, request.signal);
    request.signal?.throwIfAborted();
    return (await keep({ transaction: null, authorization })) ? 0 : null;
  }
  return wallet.inTurn(async () => {
    request.signal?.throwIfAborted();
    let isKept = false;
    const store = async (transaction: SignedTransaction) => (isKept = await keep({ transaction, authorization: null }));
    // Sent inside the turn, or the next payment would sign the same nonce. Waiting for the payment repairs a failed
    // sending.
    const sending = signAndSend(wallet, createPaymentCall(requirement), store);
    return sending.then(
      (sent) => sent && Date.now(),
      (error: unknown) => {
        if (isKept) return 0;
        throw error;
      },
    );
  });
}

/** True where signing took so long that nobody accepts it any more: past its own end, or past that of the offer. */
function isLate(
  { requirement }: Chosen,
  { authorization }: Pick<StoredPayment, 'authorization'>,
  offeredAtMs: number,
): boolean {
  return Date.now() >= (authorization ? endsAtMs(authorization) : offeredAtMs + requirement.maxTimeoutSeconds * 1000);
}

/**
 * Stores the intention, signs, stores the signed bytes, sends them. In this order a crash at any point leaves either
 * nothing that could be mined, or the stored bytes to send again.
 * @returns the stored payment, and when it was sent (0: the sending failed, or nothing is sent); null when another process was faster and its payment counts; `late` when signing took longer than the offer is valid, and nothing was stored or sent; `claimed` when another payment is for the same challenge of MPP.
 * @throws PaymentError when nothing was signed.
 */
export async function signPayment(
  context: PaymentContext,
  input: { key: string; request: RequestSnapshot; offers: Offers; afterRevision: number },
): Promise<(StoredRevision & { sentAtMs: number }) | 'late' | 'claimed' | null> {
  const offeredAtMs = Date.now();
  const { store, limit, onEvent } = context;
  const { key, request } = input;
  const { chosen, skipped } = await chooseOffer(context, input.offers);
  const { requirement } = chosen;
  const release = isCharge(requirement) ? claimChallenge(chosen.wallet.address, requirement) : () => undefined;
  if (!release) return 'claimed';
  const intention = createIntention(request, chosen);
  let giveBack: (() => void) | undefined;
  let isSigned = false;
  let tookTooLong = false;
  let revision = input.afterRevision;
  try {
    if (!(await store.write(key, intention, revision))) return null;
    revision += 1;
    // Only now, because the second caller for the same request needs no funds of its own.
    giveBack = limit?.reserve(chosen);
    for (const offer of skipped) onEvent({ type: 'skipped', key, ...offer });
    const price = formatTokenAmount(chosen.amountBaseUnits, chosen.asset.decimals);
    onEvent({ type: 'intended', key, payment: intention, price });
    let payment: StoredPayment = intention;
    const sentAtMs = await commit(context, request, chosen, async (signed) => {
      tookTooLong = isLate(chosen, signed, offeredAtMs);
      if (tookTooLong) return false;
      payment = { ...intention, ...signed, state: 'signed' };
      if (!(await store.write(key, payment, revision))) return false;
      revision += 1;
      isSigned = true;
      onEvent({ type: 'signed', key, payment });
      return true;
    });
    if (sentAtMs !== null) {
      if (sentAtMs > 0) onEvent({ type: 'sent', key, payment });
      return { payment, revision, sentAtMs };
    }
    if (!tookTooLong) return null;
    await store.write(key, { ...intention, state: 'abandoned' }, revision);
    return 'late';
  } catch (error) {
    // Other callers need not wait for a failed intention. If this write fails too, their wait ends by itself.
    if (!isSigned) await store.write(key, { ...intention, state: 'abandoned' }, revision).catch(() => undefined);
    throw error;
  } finally {
    if (!isSigned) {
      giveBack?.();
      release();
    }
  }
}
