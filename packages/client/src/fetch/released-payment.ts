import type { Wallet } from '../account/wallet.js';
import { hashOf, type RequestSnapshot } from '../network/request-snapshot.js';
import { judgeOffers } from '../offer/judge-offers.js';
import { isSignable, wayOf } from '../offer/signable-requirement.js';
import type { PaymentContext } from '../sign/payment-options.js';
import type { Offers } from '../sign/read-offers.js';
import { noteState, type PaymentStore, type StoredPayment, type StoredRevision } from '../store/payment-store.js';

/** How often a payment is used for another request than the one before. */
const MAX_MOVES = 2;
/** For how long it is used for another one. A gate takes a transfer for a day, and a signature ends earlier. */
const MOVABLE_MS = 24 * 3_600_000;

interface Using {
  /** Of the request in the store. */
  key: string;
  request: RequestSnapshot;
}

/**
 * Where the store names the payment that was released last, for requests of one payer that differ in their query or body
 * at most.
 */
function placeOf({ chainId, address }: Pick<Wallet, 'chainId' | 'address'>, { method, url }: RequestSnapshot): string {
  const { origin, pathname } = new URL(url);
  return hashOf(['released', String(chainId), address.toLowerCase(), method, origin, pathname]);
}

const isSame = (one: StoredPayment, other: StoredPayment): boolean =>
  one.createdAtMs === other.createdAtMs && one.idempotencyKey === other.idempotencyKey;

/** Notes that the server has released the payment: a corrected request may use it. */
export async function noteReleased(
  context: PaymentContext,
  { key, request }: Using,
  stored: StoredRevision,
): Promise<void> {
  const { store } = context;
  if (!(await noteState(store, key, stored, 'released'))) return;
  const { chainId, payer: address } = stored.payment;
  const place = placeOf({ chainId, address }, request);
  const revision = (await store.read(place))?.revision ?? 0;
  const { url, requestHash } = stored.payment;
  // Another call that is faster names a payment that is as good.
  await store.write(
    place,
    { ...stored.payment, state: 'moved', movedTo: { key, url, requestHash, afterRevision: 0 } },
    revision,
  );
}

/** True if the server asks now, for the other request, what the payment has paid. */
function isAsked(context: PaymentContext, offers: Offers, { requirement: paid }: StoredPayment): boolean {
  const termsOf = (requirement: StoredPayment['requirement']): string =>
    JSON.stringify([
      ...[requirement.scheme, requirement.network, requirement.maxAmountRequired],
      ...[requirement.asset.toLowerCase(), requirement.payTo.toLowerCase()],
      isSignable(requirement) && ['x402Version' in requirement && requirement.x402Version, wayOf(requirement)],
    ]);
  // A payment that exists is taken in whatever way it was made.
  return judgeOffers(offers.accepts, { ...context, way: undefined }).some(
    (judged) => 'wallet' in judged && termsOf(judged.requirement) === termsOf(paid),
  );
}

/**
 * Takes the payment that was released last for a request that differs in its query or body at most, where the price is the
 * same. One compare-and-set takes it, so of several calls one gets it.
 * @returns true if the store has changed: the caller reads it again
 */
export async function takeReleased(
  context: PaymentContext,
  using: Using,
  terms: { offers: Offers; afterRevision: number },
): Promise<boolean> {
  for (const wallet of context.wallets) if (await takeReleasedOf(wallet, context, using, terms)) return true;
  return false;
}

async function takeReleasedOf(
  wallet: Wallet,
  context: PaymentContext,
  { key, request }: Using,
  { offers, afterRevision }: { offers: Offers; afterRevision: number },
): Promise<boolean> {
  const { store } = context;
  const named = (await store.read(placeOf(wallet, request)))?.payment;
  const found = named?.movedTo ? await store.read(named.movedTo.key) : null;
  if (!named?.movedTo || !found || !isSame(found.payment, named)) return false;
  const { payment, revision } = found;
  if (payment.movedTo?.key === key) return completeMove(store, named.movedTo.key, found);
  const isMovable = payment.moves < MAX_MOVES && Date.now() - payment.createdAtMs < MOVABLE_MS;
  if (payment.state !== 'released' || !isMovable || !isAsked(context, offers, payment)) return false;
  const movedTo = { key, url: request.url, requestHash: request.hash, afterRevision };
  const moving: StoredPayment = { ...payment, state: 'moved', movedTo };
  if (!(await store.write(named.movedTo.key, moving, revision))) return false;
  return completeMove(store, named.movedTo.key, { payment: moving, revision: revision + 1 });
}

/**
 * Gives a payment to the request that has taken it, also after a crash in between. Where that request has been paid
 * otherwise, its former one has it back.
 * @returns whether the request has it
 */
export async function completeMove(
  store: PaymentStore,
  key: string,
  { payment, revision }: StoredRevision,
): Promise<boolean> {
  const { movedTo: to } = payment;
  if (!to) return false;
  const there = await store.read(to.key);
  const { url, requestHash } = to;
  const given: StoredPayment = {
    ...payment,
    state: 'signed',
    url,
    requestHash,
    movedTo: null,
    moves: payment.moves + 1,
  };
  const isThere = there !== null && isSame(there.payment, payment) && there.payment.moves > payment.moves;
  const isGiven = isThere || (await store.write(to.key, given, to.afterRevision));
  await store.write(key, { ...payment, state: isGiven ? 'moved' : 'released', movedTo: null }, revision);
  return isGiven;
}
