import { encodeProof, X_PAYMENT, X_PAYMENT_FAILURE, X_PAYMENT_RELEASED, type Hex } from '@tollgate/protocol';

import { runInTurn } from './locks.js';
import type { KeptPurchase, KeptPurchases, ProofHeader } from './purchases.js';
import { RELEASED_TOO_OFTEN, tellFate } from './sale-end.js';

/** How a request with a payment ended. */
export type RedeemEnd =
  | { readonly kind: 'answer'; readonly response: Response }
  /** The gateway refused the payment, by this code. */
  | { readonly kind: 'refused'; readonly failure: string }
  /** The answer was delivered once, and is not stored. */
  | { readonly kind: 'gone' }
  /** Another tab has changed the payment meanwhile: what is kept now counts. */
  | { readonly kind: 'overtaken' }
  /** Not known yet, or the seller failed: the same request can be sent again. */
  | { readonly kind: 'later'; readonly reason: string; readonly isMissing: boolean };

/** One attempt. `wait`: the same request may succeed later. */
export type RedeemAttempt =
  | Exclude<RedeemEnd, { kind: 'later' | 'overtaken' }>
  | {
      readonly kind: 'wait';
      readonly reason: string;
      readonly delayMs: number;
      /** The chain has no receipt of the transaction. */
      readonly isMissing: boolean;
      /** Whether the gateway may have settled the payment without saying so. */
      readonly isUncertain: boolean;
      /** How often the seller has failed for this payment, where it has failed now. */
      readonly releases: number | null;
    };

/** What a page does while it waits for an answer. */
export interface Waiting {
  /** Called before each pause. */
  readonly onWait: (reason: string, isMissing: boolean) => void;
  /** Ends the waiting between two requests. A request that was sent is not broken off. */
  readonly signal: AbortSignal;
}

const GIVE_UP_AFTER_MS = 120_000;
const LEAST_DELAY_MS = 700;
const LONGEST_DELAY_MS = 10_000;
const UNREACHED_DELAY_MS = 5_000;
/** Before the seller is asked again after its first failure, its second, and so on. */
const PAUSES_MS = [5_000, 30_000, 120_000, 900_000];
/** The statuses below 500 that may go away with time. */
const TRANSIENT_STATUSES = new Set([409, 425, 429]);
const BUSY_STATUSES = new Set([429, 503]);
/** The refusals that may go away with time, in words. */
const TRANSIENT_REFUSALS = new Map([
  ['receipt_missing', 'The chain has not mined it yet.'],
  ['not_confirmed', 'The chain has not confirmed it yet.'],
  ['balance_too_low', 'The balance is too low.'],
  ['contract_wallet_paused', 'The gateway does not ask this contract wallet for a while.'],
]);

/** The header that redeems a mined transfer. */
export function createTransferProof({ network, reference }: KeptPurchase, txHash: Hex): ProofHeader {
  const payload = { txHash, reference };
  return { name: X_PAYMENT, value: encodeProof({ x402Version: 1, scheme: 'exact', network, payload }) };
}

/** A purchase with its payment. */
export type PaidPurchase = KeptPurchase & { readonly proof: ProofHeader };

/** Gets the answers of one URL. The same payment gets the same answer again. */
export class Redemption {
  constructor(
    private readonly url: string,
    private readonly store: KeptPurchases,
    private readonly settlesFirst: boolean,
  ) {}

  /**
   * Sends the request with its payment until there is a result, or the seller fails. The gateway refuses a payment for
   * which the seller has failed five times, so only the first failure is followed by another attempt without a click.
   *
   * @param first an attempt that was made already
   */
  async redeem(purchase: PaidPurchase, { onWait, signal }: Waiting, first?: RedeemAttempt): Promise<RedeemEnd> {
    const proofs = [this.#keptProof(purchase), purchase.proof.value];
    const isOvertaken = (): boolean => !proofs.includes(this.#keptProof(purchase));
    let giveUpAtMs = Date.now() + GIVE_UP_AFTER_MS;
    let attempt = first ?? (await this.attempt(purchase));
    for (let failures = 0; attempt.kind === 'wait'; attempt = await this.attempt(purchase)) {
      const { reason, delayMs, isMissing, releases } = attempt;
      if (releases !== null) failures = Math.max(failures + 1, releases);
      const isOver = (releases !== null && failures > 1) || Date.now() > giveUpAtMs;
      if (isOver || signal.aborted) return isOvertaken() ? { kind: 'overtaken' } : { kind: 'later', reason, isMissing };
      // A pause after a failure is no time in which the gateway had no answer.
      if (delayMs > LONGEST_DELAY_MS) giveUpAtMs += delayMs;
      onWait(reason, isMissing);
      await wait(delayMs, signal);
      if (isOvertaken()) return { kind: 'overtaken' };
    }
    return attempt.kind !== 'answer' && isOvertaken() ? { kind: 'overtaken' } : attempt;
  }

  /** One attempt, after those of other tabs. A failure of the seller is kept, so that no tab asks again at once. */
  attempt(purchase: PaidPurchase): Promise<RedeemAttempt> {
    return runInTurn(`tollgate:answer:${this.url}`, async () => {
      const { releases = 0, retryAtMs = 0, ...kept } = this.store.find(purchase.reference) ?? purchase;
      const fate = tellFate(kept, this.settlesFirst);
      if (retryAtMs > Date.now()) return createPause(retryAtMs - Date.now(), fate);
      const { attempt, isReleased } = await send(this.url, purchase.proof, fate);
      if (attempt.kind === 'wait' && attempt.isUncertain) this.#noteUncertain(purchase);
      if (!isReleased) return attempt;
      const delayMs = PAUSES_MS[releases];
      if (delayMs === undefined) {
        // After the fifth failure there is nothing to wait for.
        this.store.keep({ ...kept, ...purchase, releases: releases + 1, retryAtMs: 0 });
        return { kind: 'refused', failure: RELEASED_TOO_OFTEN };
      }
      this.store.keep({ ...kept, ...purchase, releases: releases + 1, retryAtMs: Date.now() + delayMs });
      return attempt.kind === 'wait' ? { ...attempt, delayMs, releases: releases + 1 } : attempt;
    });
  }

  #noteUncertain({ reference }: KeptPurchase): void {
    const kept = this.store.find(reference);
    if (kept?.way === 'signature' && kept.mayHaveMoved !== true) this.store.keep({ ...kept, mayHaveMoved: true });
  }

  #keptProof({ reference }: KeptPurchase): string | undefined {
    return this.store.find(reference)?.proof?.value;
  }
}

interface Sent {
  readonly attempt: RedeemAttempt;
  /** Whether the seller failed, by which one of the payment's attempts is used up. */
  readonly isReleased: boolean;
}

async function send(url: string, proof: ProofHeader, fate: string): Promise<Sent> {
  let response: Response;
  try {
    response = await fetch(url, {
      // Not text/html: the gateway would answer the page again.
      headers: { [proof.name]: proof.value, Accept: '*/*' },
      cache: 'no-store',
      redirect: 'manual',
      credentials: 'omit',
    });
  } catch {
    return { attempt: createWait('The gateway does not answer.', 2000), isReleased: false };
  }
  const { status, headers } = response;
  const isReleased = headers.get(X_PAYMENT_RELEASED) === 'true';
  if (!isReleased || !isTransient(status)) return { attempt: judge(response), isReleased };
  if (await isUnreached(response)) {
    return {
      attempt: createReleased('The seller is not reached. Nothing is lost.', UNREACHED_DELAY_MS),
      isReleased: false,
    };
  }
  if (BUSY_STATUSES.has(status))
    return { attempt: createReleased(`The seller is busy. ${fate}`, readDelayMs(headers)), isReleased: false };
  return { attempt: createReleased(`The seller failed (status ${status}). ${fate}`, 0), isReleased };
}

function judge(response: Response): RedeemAttempt {
  const { status, headers } = response;
  if (response.type === 'opaqueredirect' || status < 400) return { kind: 'answer', response };
  // A seller's own 410 is released, and an answer like any other.
  if (status === 410 && headers.get(X_PAYMENT_RELEASED) !== 'true') return { kind: 'gone' };
  const delayMs = readDelayMs(headers);
  if (status === 402) {
    const failure = headers.get(X_PAYMENT_FAILURE) ?? 'payment_refused';
    const reason = TRANSIENT_REFUSALS.get(failure);
    if (reason === undefined) return { kind: 'refused', failure };
    return { ...createReleased(reason, delayMs), isMissing: failure === 'receipt_missing' };
  }
  if (isTransient(status)) {
    return createWait(`The gateway answered ${status}. Nothing is lost.`, delayMs);
  }
  return { kind: 'answer', response };
}

function readDelayMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? '');
  return Math.min(Math.max(seconds * 1000 || 0, LEAST_DELAY_MS), LONGEST_DELAY_MS);
}

function isTransient(status: number): boolean {
  return status >= 500 || TRANSIENT_STATUSES.has(status);
}

/** Whether the seller was not reached at all. Such attempts do not count. */
async function isUnreached(response: Response): Promise<boolean> {
  if (response.headers.get('content-type')?.startsWith('application/problem+json') !== true) return false;
  const { code } = (await response.json().catch(() => ({}))) as { code?: unknown };
  return code === 'upstream_refused';
}

type Wait = Extract<RedeemAttempt, { kind: 'wait' }>;

function createWait(reason: string, delayMs: number): Wait {
  return { kind: 'wait', reason, delayMs, isMissing: false, isUncertain: true, releases: null };
}

/** The gateway has released the payment, or was not asked. */
function createReleased(reason: string, delayMs: number): Wait {
  return { ...createWait(reason, delayMs), isUncertain: false };
}

function createPause(delayMs: number, fate: string): Wait {
  const time = new Date(Date.now() + delayMs).toLocaleTimeString();
  return createReleased(`The seller failed. ${fate} The next attempt is at ${time}.`, delayMs);
}

function wait(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, delayMs);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
