import { z } from 'zod';

const textOrNull = z.string().nullable();

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
const refundTerms = z.object({
  id: z.string(),
  payment: z.string(),
  number: z.int().describe("From 1: a payment's second refund is number 2."),
  amount: z.string().describe('Base units of the asset, as decimal text.'),
  chainId: z.int(),
  asset: z.string(),
  arrivedIn: z.string().describe('The transaction that brought the money.'),
  recipient: z.string().describe('The payer that the chain shows.'),
  permit: textOrNull.describe(
    "The ledger's name of the permit that moved the money, which is closed with the payment; null: none did.",
  ),
  reason: textOrNull,
  answered: z.boolean().describe('Meant for a payment that bought an answer.'),
  doubts: z.array(z.string()).readonly().describe('Why a person has to approve it; empty: nobody has to.'),
});
export type RefundTerms = z.output<typeof refundTerms>;

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
export const refundSchema = refundTerms.extend({
  state: z.enum(REFUND_STATES),
  askedAmount: textOrNull.describe(
    'Base units that were asked for, where a named transaction paid another amount; null: `amount`.',
  ),
  askedBy: z
    .array(z.string())
    .readonly()
    .describe('The API keys that asked for it, the last one last: none of them may approve it.'),
  askedAt: z.string(),
  changedAt: z.string(),
  attempt: z.int().describe('The number of the attempt to send it, from 1; each has a job of its own.'),
  attemptAt: z.string().describe('When that attempt was asked for.'),
  job: textOrNull.describe('Written before the journal gets it, so that it may not be there yet.'),
  transaction: textOrNull.describe(
    'What paid it; while it is `sending`, what its job was mined as, or what a person has named.',
  ),
  maybeSent: z
    .boolean()
    .describe('The result of one of its jobs is unknown, and the job may have been sent. Never reset.'),
  detail: textOrNull.describe('Why it failed, or was refused, or what it waits for.'),
  route: textOrNull.describe(
    'What was paid for; null where the book does not know it, as of a payment that was refused.',
  ),
});
export type Refund = z.output<typeof refundSchema>;

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
