import { z } from 'zod';

import {
  assetName,
  chainAccount,
  OWED,
  payerAccount,
  REFUNDS,
  revenueAccount,
  type AccountPosition,
} from './accounts.js';
import { BOOKED_STATES, type BookedState } from './booked-states.js';
import type { BookedPayment, PaymentReports, ReportedTransfer } from './payment-record.js';

const textOrNull = z.string().nullable();

/** A token on a chain that the seller accepts, and the account that it is paid to. Addresses are lower case. */
export interface AcceptedToken {
  readonly chainId: number;
  readonly asset: string;
  readonly recipient: string;
}

/** The seller's own settings: where money arrives that an event does not say more about. */
export type BookSeller = readonly AcceptedToken[];

/** A payment in a list. Amounts are base units; null where no event has reported them. */
export const listedPayment = z
  .object({
    id: z.string(),
    state: z.enum(BOOKED_STATES),
    at: z.string(),
    scheme: textOrNull,
    network: textOrNull,
    asset: textOrNull,
    payer: textOrNull,
    recipient: textOrNull,
    forOther: z
      .boolean()
      .describe('The facilitator settled it for another seller: its money is neither revenue nor owed here.'),
    route: textOrNull,
    path: textOrNull.describe('As it was sent; null once the request was removed.'),
    query: textOrNull.describe('Only where gateways tell it.'),
    requestId: textOrNull,
    transaction: textOrNull,
    reason: textOrNull,
    amount: textOrNull,
    refunded: z.string(),
    releaseReason: textOrNull.describe(
      'Why it was released, as reported last: `reason` is another one once it was refused or closed.',
    ),
  })
  .meta({ id: 'ListedPayment' });
export type ListedPayment = z.output<typeof listedPayment>;

/** A payment as it is searched. */
export interface BookedFacts extends Readonly<Omit<ListedPayment, 'id' | 'at' | 'releaseReason'>> {
  readonly atMs: number;
  readonly chainId: number | null;
}

/** Characters of a text that is indexed: PostgreSQL refuses rows of an index above 2,704 bytes. */
const MOST_INDEXED = 500;
/** Of a path or a query: gateways tell no more. */
const MOST_KEPT = 1_024;

export function describePayment({ id, reports }: BookedPayment, seller: BookSeller): BookedFacts {
  const { answered, released, refused } = reports;
  const sale = answered ?? released?.sale ?? null;
  const named = parsePaymentId(id);
  const moved = findMoved(reports);
  const transaction = moved?.transaction ?? sale?.transaction ?? refused?.transaction ?? named.transaction;
  const state = isWithdrawn(reports, transaction) ? 'withdrawn' : stateOf(reports);
  const chainId = sale?.chainId ?? named.chainId;
  const told = lower(moved?.asset ?? sale?.asset ?? refused?.asset ?? named.asset);
  const accepted = findAccepted(seller, chainId, told);
  return {
    state,
    atMs: lastTime(reports),
    scheme: sale?.scheme ?? null,
    network: sale?.network ?? (named.chainId === null ? null : `eip155:${named.chainId}`),
    chainId,
    asset: told ?? accepted.asset,
    payer: lower(moved?.payer ?? sale?.payer ?? refused?.payer ?? named.payer),
    recipient: lower(moved?.payTo ?? sale?.payTo ?? refused?.payTo ?? accepted.recipient),
    forOther: isForOther(reports),
    route: cut(sale?.route, MOST_INDEXED),
    path: cut(sale?.path, MOST_KEPT),
    query: cut(sale?.query, MOST_KEPT),
    requestId: cut(sale?.requestId, MOST_INDEXED),
    transaction: lower(transaction),
    reason: reasonOf(reports, state),
    amount: moved?.amount ?? sale?.amount ?? refused?.amount ?? null,
    refunded: String((reports.refunded ?? []).reduce((sum, { amount }) => sum + BigInt(amount), 0n)),
  };
}

/** What the payment has moved between accounts so far, in base units of its asset. Empty until its money has arrived. */
export function positionOf({ reports }: BookedPayment, facts: BookedFacts): AccountPosition {
  const { chainId, asset, recipient, transaction, payer } = facts;
  if (facts.forOther) return new Map();
  const amount = facts.state === 'withdrawn' ? 0n : BigInt(facts.amount ?? '0');
  if (chainId === null || asset === null || recipient === null || transaction === null || amount === 0n)
    return new Map();
  const refunded = BigInt(facts.refunded);
  const isSold = reports.answered !== undefined;
  const position = new Map<string, bigint>();
  const add = (account: string, units: bigint) => position.set(account, (position.get(account) ?? 0n) + units);
  add(chainAccount(chainId, recipient), amount);
  add(holderOf(reports, facts.route, payer), -amount);
  if (refunded > 0n) {
    // A refund of money that had bought nothing pays a debt; any other lowers revenue.
    add(isSold ? REFUNDS : holderOf(reports, facts.route, payer), refunded);
    add(`chain:${chainId}:refunds`, -refunded);
  }
  return position;
}

export function assetOf({ chainId, asset }: BookedFacts): string {
  return assetName(chainId ?? 0, asset ?? 'native');
}

/** What all tokens of the seller that may have been paid have in common; null: they differ, so that it is not known. */
function findAccepted(seller: BookSeller, chainId: number | null, asset: string | null) {
  const onChain = seller.filter((one) => chainId === null || one.chainId === chainId);
  const own = onChain.filter((one) => one.asset === asset);
  const possible = own.length > 0 ? own : onChain;
  const common = (name: 'asset' | 'recipient'): string | null => {
    const [only, ...others] = new Set(possible.map((one) => one[name]));
    return others.length === 0 ? (only ?? null) : null;
  };
  return { asset: common('asset'), recipient: common('recipient') };
}

/** The chain's own word first, unless the chain has taken it back. */
function findMoved({ transfer, settled, removed }: PaymentReports): ReportedTransfer | undefined {
  const isThere = (moved?: ReportedTransfer) => moved && removed?.transactions.includes(moved.transaction) !== true;
  return [transfer, settled].find(isThere) ?? transfer ?? settled;
}

/** A transfer that reconciling has found went to the seller's own recipient, whatever an event says. */
function isForOther({ answered, released, settled, transfer }: PaymentReports): boolean {
  const sellers = [answered, released?.sale, settled];
  return transfer === undefined && sellers.some((one) => one?.forOther === true);
}

function isWithdrawn(reports: PaymentReports, transaction: string | null): boolean {
  const { refunding, refunded, removed, bookedAs } = reports;
  if (refunding !== undefined || refunded !== undefined) return false;
  if (bookedAs !== undefined && !reports.answered && decidedState(reports) === 'unclaimed') return true;
  return transaction !== null && removed?.transactions.includes(transaction.toLowerCase()) === true;
}

function holderOf(reports: PaymentReports, route: string | null, payer: string | null): string {
  if (reports.answered) return revenueAccount(route ?? '');
  switch (decidedState(reports)) {
    case 'refused':
      return OWED.refused;
    case 'released':
      return OWED.released;
    case 'settled':
      return payerAccount(payer ?? 'unknown');
    default:
      return OWED.unclaimed;
  }
}

function stateOf(reports: PaymentReports): BookedState {
  if (reports.refunded !== undefined) return 'refunded';
  if (reports.refunding !== undefined) return 'refunding';
  return reports.answered ? 'answered' : decidedState(reports);
}

/** The later of a refusal and a release decides: a payment that was refused may still be presented otherwise. */
function decidedState({ released, refused, settled }: PaymentReports): BookedState {
  if (refused && (!released || refused.atMs >= released.atMs)) return 'refused';
  if (released) return 'released';
  return settled ? 'settled' : 'unclaimed';
}

function reasonOf({ refused, released, refunding, bookedAs }: PaymentReports, state: BookedState): string | null {
  if (state === 'withdrawn') return bookedAs ? `booked as ${bookedAs.payment}` : REMOVED;
  if (state === 'refused') return refused?.failure ?? null;
  if (state === 'released') return released?.reason ?? null;
  return refunding?.reason ?? null;
}

function lastTime(reports: PaymentReports): number {
  const { refunded = [], ...single } = reports;
  return Math.max(0, ...[...Object.values(single), ...refunded].map(({ atMs }) => atMs));
}

/** Why a payment is withdrawn that no other payment has taken the place of. */
const REMOVED = 'removed_from_chain';

type NamedInId = Record<'transaction' | 'asset' | 'payer', string | null> & { chainId: number | null };

/** What the ledger's id of a payment says: entry and slot, `tx:<chainId>:<hash>:<log index>` or one of a signature. */
function parsePaymentId(id: string): NamedInId {
  const [kind, chain = '', first = '', second = ''] = id.split(':');
  const named = {
    chainId: /^\d{1,15}$/.test(chain) ? Number(chain) : null,
    transaction: null,
    asset: null,
    payer: null,
  };
  switch (kind) {
    case 'tx':
      return { ...named, transaction: first };
    case 'auth':
      return { ...named, asset: first, payer: second };
    case 'permit':
      return { ...named, payer: first };
    default:
      return named;
  }
}

/** Whole characters, no half of a surrogate pair: databases have no text with one. */
function cut(text: string | null | undefined, most: number): string | null {
  return text?.slice(0, most).replace(/\p{Surrogate}$/u, '') ?? null;
}

function lower(text: string | null): string | null {
  return text === null ? null : text.toLowerCase();
}
