import { encodeProof, X_PAYMENT, X_PAYMENT_FAILURE, X_PAYMENT_RELEASED, type Hex } from '@tollgate/protocol';

import type { KeptPurchase, ProofHeader } from './purchases.js';

/** How a request with a payment ended. */
export type RedeemEnd =
  | { readonly kind: 'answer'; readonly response: Response }
  /** The gateway refused the payment, by this code. */
  | { readonly kind: 'refused'; readonly failure: string }
  /** The answer was delivered once, and is not stored. */
  | { readonly kind: 'gone' }
  /** Not known yet, or the seller failed: the payment stays valid, and the same request can be sent again. */
  | { readonly kind: 'later'; readonly reason: string };

const GIVE_UP_AFTER_MS = 120_000;
const LEAST_DELAY_MS = 700;
const LONGEST_DELAY_MS = 10_000;
/** Refusals that may go away with time. */
const TRANSIENT = new Set(['receipt_missing', 'not_confirmed', 'balance_too_low', 'contract_wallet_paused']);
/** A released payment is accepted a few times only. */
const MOST_RELEASES = 2;

/** The header that redeems a mined transfer. */
export function createTransferProof({ network, reference }: KeptPurchase, txHash: Hex): ProofHeader {
  const payload = { txHash, reference };
  return { name: X_PAYMENT, value: encodeProof({ x402Version: 1, scheme: 'exact', network, payload }) };
}

/** Sends the request with its payment until there is a result. The same payment gets the same answer again. */
export async function redeem(url: string, proof: ProofHeader, onWait: (reason: string) => void): Promise<RedeemEnd> {
  const giveUpAtMs = Date.now() + GIVE_UP_AFTER_MS;
  for (let releases = 0; ;) {
    const attempt = await tryRedeem(url, proof);
    if (attempt.kind !== 'wait') return attempt;
    if (attempt.isReleased) releases += 1;
    if (releases > MOST_RELEASES || Date.now() > giveUpAtMs) return { kind: 'later', reason: attempt.reason };
    onWait(attempt.reason);
    await new Promise((resolve) => setTimeout(resolve, attempt.delayMs));
  }
}

type Attempt =
  | RedeemEnd
  | { readonly kind: 'wait'; readonly reason: string; readonly delayMs: number; readonly isReleased: boolean };

/** One attempt. `wait`: the same request may succeed later. */
export async function tryRedeem(url: string, proof: ProofHeader): Promise<Attempt> {
  let response: Response;
  try {
    response = await fetch(url, {
      // Not text/html: the gateway would answer the page again.
      headers: { [proof.name]: proof.value, Accept: '*/*' },
      ...{ cache: 'no-store', redirect: 'manual', credentials: 'omit' },
    });
  } catch {
    return { kind: 'wait', reason: 'The gateway does not answer.', delayMs: 2000, isReleased: false };
  }
  const { status, headers } = response;
  if (response.type === 'opaqueredirect' || status < 400) return { kind: 'answer', response };
  if (status === 410) return { kind: 'gone' };
  if (status === 402) {
    const failure = headers.get(X_PAYMENT_FAILURE) ?? 'payment_refused';
    if (!TRANSIENT.has(failure)) return { kind: 'refused', failure };
    return waitFor(
      response,
      failure === 'receipt_missing' ? 'The chain has not mined it yet.' : `Waiting (${failure}).`,
    );
  }
  if (status >= 500 || status === 409 || status === 425 || status === 429) {
    return waitFor(response, `The gateway answered ${status}. Your payment stays valid.`);
  }
  return { kind: 'answer', response };
}

function waitFor({ headers }: Response, reason: string): Attempt {
  const seconds = Number(headers.get('retry-after') ?? '');
  const delayMs = Math.min(Math.max(seconds * 1000 || 0, LEAST_DELAY_MS), LONGEST_DELAY_MS);
  return { kind: 'wait', reason, delayMs, isReleased: headers.get(X_PAYMENT_RELEASED) === 'true' };
}
