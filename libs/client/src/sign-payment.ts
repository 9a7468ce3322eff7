import { formatTokenAmount, IDEMPOTENCY_KEY, type PaymentChallenge } from '@tollgate/protocol';

import { chooseRequirement, type ChosenRequirement } from './choose-requirement.js';
import { createPaymentCall } from './create-payment-call.js';
import type { PaymentContext } from './payment-options.js';
import type { StoredPayment, StoredRevision } from './payment-store.js';
import type { RequestSnapshot } from './request-snapshot.js';

/** 128 random bits in hexadecimal; `randomUUID` is missing on plain HTTP pages. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function createIntention(context: PaymentContext, request: RequestSnapshot, chosen: ChosenRequirement): StoredPayment {
  return {
    state: 'intended',
    method: request.method,
    url: request.url,
    idempotencyKey: request.headers.get(IDEMPOTENCY_KEY) ?? createIdempotencyKey(),
    chainId: context.wallet.chainId,
    payer: context.wallet.address,
    requirement: chosen.requirement,
    createdAtMs: Date.now(),
    transaction: null,
  };
}

/**
 * Stores the intention, signs, stores the signed bytes, sends them: in this order, so that a crash at any point
 * leaves either nothing that could be mined or the very bytes to send again.
 * @returns the stored payment, or null when another process was faster: then its payment is the one.
 * @throws PaymentError when nothing was signed.
 */
export async function signPayment(
  context: PaymentContext,
  input: { key: string; request: RequestSnapshot; challenge: PaymentChallenge; afterRevision: number },
): Promise<StoredRevision | null> {
  const { store, wallet, limit, onEvent } = context;
  const { key, request } = input;
  const chosen = chooseRequirement(input.challenge, { ...context, chainId: wallet.chainId });
  const intention = createIntention(context, request, chosen);
  const giveBack = limit.reserve(chosen);
  let isSigned = false;
  let revision = input.afterRevision;
  try {
    if (!(await store.write(key, intention, revision))) return null;
    revision += 1;
    const price = formatTokenAmount(chosen.amountBaseUnits, chosen.asset.decimals);
    onEvent({ type: 'intended', key, payment: intention, price });
    return await wallet.inTurn(async () => {
      request.signal?.throwIfAborted();
      const transaction = await wallet.sign(createPaymentCall(chosen.requirement));
      const payment: StoredPayment = { ...intention, state: 'signed', transaction };
      if (!(await store.write(key, payment, revision))) return null;
      revision += 1;
      isSigned = true;
      onEvent({ type: 'signed', key, payment });
      // Sent inside the turn, or the next payment would sign the same nonce. A failure is mended by whoever waits.
      await wallet.broadcast(transaction).catch(() => undefined);
      return { payment, revision };
    });
  } catch (error) {
    // Nobody need wait for an intention that came to nothing. Should this fail too, waiting ends by itself.
    if (!isSigned) await store.write(key, { ...intention, state: 'abandoned' }, revision).catch(() => undefined);
    throw error;
  } finally {
    if (!isSigned) giveBack();
  }
}
