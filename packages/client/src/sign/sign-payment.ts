import {
  createDomainMissing,
  formatTokenAmount,
  IDEMPOTENCY_KEY,
  PaymentError,
  type SignedPayment,
} from '@tollgate/protocol';

import { signAndSend } from '../account/send.js';
import type { SignedTransaction } from '../account/signed-transaction.js';
import type { ReadingContext } from '../methods/paying-method.js';
import type { RequestSnapshot } from '../network/request-snapshot.js';
import { claimChallenge, isCharge } from '../offer/charge-requirement.js';
import { listWithinLimits, type ChosenRequirement } from '../offer/choose-requirement.js';
import {
  isSignable,
  methodOfOffer,
  wayOf,
  type Offer,
  type PaymentWay,
  type SignableRequirement,
} from '../offer/signable-requirement.js';
import { endsAtMs, type StoredPayment, type StoredRevision } from '../store/payment-store.js';
import { createPaymentCall, createPaymentToSign } from './create-payment-to-sign.js';
import { createRandomHex } from './hex.js';
import type { PaymentContext, SkippedOffer } from './payment-options.js';
import type { Offers } from './read-offers.js';

type Chosen = ChosenRequirement<Offer>;

function createIntention(context: PaymentContext, request: RequestSnapshot, chosen: Chosen): StoredPayment {
  return {
    state: 'intended',
    method: request.method,
    url: request.url,
    requestHash: request.hash,
    idempotencyKey: request.headers.get(IDEMPOTENCY_KEY) ?? createRandomHex(16),
    chainId: context.wallet.chainId,
    payer: context.wallet.address,
    requirement: chosen.requirement,
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
  chosen: ChosenRequirement<SignableRequirement>,
  signal: AbortSignal | null,
): Promise<SignedPayment> {
  const { wallet } = context;
  const { requirement } = chosen;
  const method = methodOfOffer(requirement);
  if (!isCharge(requirement)) await method.prepare?.(context, { ...chosen, requirement }, signal);
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
  const { wallet } = context;
  const { requirement } = chosen;
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
  const release = isCharge(requirement) ? claimChallenge(context.wallet.address, requirement) : () => undefined;
  if (!release) return 'claimed';
  const intention = createIntention(context, request, chosen);
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

export interface ChosenOffer {
  chosen: Chosen;
  skipped: readonly SkippedOffer[];
}

/** The limits of a payment, and what is read of the account that makes it. */
export interface ChoiceTerms extends Pick<PaymentContext, 'assets' | 'maxAmount'>, ReadingContext {
  wallet: ReadingContext['wallet'] & { chainId: number };
  way?: PaymentWay | undefined;
}

/**
 * The first offer within the limits that the wallet can pay. An offer is skipped if the contract that is to move the
 * token may not, or if the token states no domain to sign for; the next one may cost more, since `maxAmount` permits any price up to it.
 * @throws PaymentError as `listWithinLimits`; the problem of the first offer if nothing else is within the limits
 */
export async function chooseOffer(context: ChoiceTerms, { accepts }: Offers): Promise<ChosenOffer> {
  const { way } = context;
  const payable = way === undefined ? accepts : accepts.filter((offer) => wayOf(offer) === way);
  const within = listWithinLimits({ accepts: payable }, { ...context, chainId: context.wallet.chainId });
  const skipped: SkippedOffer[] = [];
  for (const chosen of within) {
    const completed = await complete(context, chosen);
    if (!(completed instanceof PaymentError)) return { chosen: completed, skipped };
    skipped.push({ requirement: chosen.requirement, problem: completed });
  }
  throw skipped[0]?.problem as PaymentError;
}

/** The offer with all that is needed to pay it, or why the wallet cannot. */
async function complete(context: ChoiceTerms, chosen: Chosen): Promise<Chosen | PaymentError> {
  const { requirement } = chosen;
  if (!isSignable(requirement)) return chosen;
  if (isCharge(requirement)) {
    const extra = await context.wallet.authorizations?.readDomain(requirement.asset);
    return extra ? { ...chosen, requirement: { ...requirement, extra } } : createDomainMissing(requirement.asset);
  }
  return (await methodOfOffer(requirement).findProblem?.(context, { ...chosen, requirement })) ?? chosen;
}
