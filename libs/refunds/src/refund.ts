/**
 * `asked`: written, and nothing is done yet; `closed`: the ledger is closed for the payment; `sending`: its job is in the
 * journal; `refunded`: sent, and reported to the ledger. `failed`: the job ended and moved nothing; it can be retried or
 * given up. `refused`: the ledger did not close, and nothing was done.
 */
export const REFUND_STATES = [
  ...(['asked', 'closed', 'sending', 'refunded', 'failed', 'given_up', 'refused'] as const),
] as const;
export type RefundState = (typeof REFUND_STATES)[number];

/** States in which the refund's amount is no longer kept for it. */
export const RELEASED_STATES: readonly RefundState[] = ['given_up', 'refused'];

/** States in which a refund goes on by the decision of a person alone. */
export const ENDED_STATES: readonly RefundState[] = ['failed', 'given_up'];

/** States in which the bookkeeper has to bring the refund to its end. */
export const WORK_STATES: readonly RefundState[] = ['asked', 'closed', 'sending'];

/** What is asked for. */
export interface RefundTerms {
  readonly id: string;
  readonly payment: string;
  /** From 1: a payment's second refund is number 2. */
  readonly number: number;
  /** Base units of the asset, as decimal text. */
  readonly amount: string;
  readonly chainId: number;
  readonly asset: string;
  /** The transaction that brought the money. */
  readonly arrivedIn: string;
  /** The payer that the chain shows. */
  readonly recipient: string;
  /** The ledger's name of the permit that moved the money, which is closed with the payment; null: none did. */
  readonly permit: string | null;
  readonly reason: string | null;
  /** Meant for a payment that bought an answer. */
  readonly answered: boolean;
  /** Why a person has to approve it; empty: nobody has to. */
  readonly doubts: readonly string[];
}

/** A transfer that the chain shows for a payment: the place of its log in the transaction, and base units. */
export interface ArrivedTransfer {
  readonly log: number;
  readonly arrived: string;
}

/** What a refund takes of a transfer: base units. */
export interface TakenPart {
  readonly log: number;
  readonly taken: string;
}

/** A refund in the book. Times are ISO 8601, UTC. */
export interface Refund extends RefundTerms {
  readonly state: RefundState;
  /** Base units that were asked for, where a named transaction paid another amount; null: `amount`. */
  readonly askedAmount: string | null;
  /** The API keys that asked for it, the last one last: none of them may approve it. */
  readonly askedBy: readonly string[];
  readonly askedAt: string;
  readonly changedAt: string;
  /** The number of the attempt to send it, from 1; each has a job of its own. */
  readonly attempt: number;
  /** When that attempt was asked for. */
  readonly attemptAt: string;
  /** Written before the journal gets it, so that it may not be there yet. */
  readonly job: string | null;
  /** What paid it; while it is `sending`, what its job was mined as, or what a person has named. */
  readonly transaction: string | null;
  /** The result of one of its jobs is unknown, and the job may have been sent. Never reset. */
  readonly maybeSent: boolean;
  /** Why it failed, or was refused, or what it waits for. */
  readonly detail: string | null;
  /** What was paid for; null where the book does not know it, as of a payment that was refused. */
  readonly route: string | null;
}

/** The number of a payment's next refund: one that was refused keeps its number. */
export function nextNumber(refunds: readonly Refund[]): number {
  const last = refunds.at(-1);
  if (last === undefined) return 1;
  return last.state === 'refused' ? last.number : last.number + 1;
}

/**
 * What refunds have taken, or may still take, of what arrived: base units.
 * @param refunded the payment's own sum, which counts where it is higher: a book that was restored may lack refunds
 */
export function sumOfRefunds(refunds: readonly Refund[], refunded: bigint): bigint {
  const held = refunds.filter(({ state }) => !RELEASED_STATES.includes(state));
  const sum = held.reduce((total, { amount }) => total + BigInt(amount), 0n);
  return sum > refunded ? sum : refunded;
}

/** What a person has to look at before more of the payment is paid back. */
export function findSentDoubts(refunds: readonly Refund[]): string[] {
  return refunds.flatMap(({ number, maybeSent }) =>
    maybeSent
      ? [`A job of refund ${number} may have been sent, and what became of it is not known: look at the chain first.`]
      : [],
  );
}

/** The most that refunds may pay back: base units; null: any amount. A day is one of UTC. */
export interface RefundCaps {
  readonly each: bigint | null;
  readonly perPayerAndDay: bigint | null;
  readonly perKeyAndDay: bigint | null;
  readonly perDay: bigint | null;
}
