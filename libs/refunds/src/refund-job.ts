import { hash } from 'node:crypto';

import { codeOfLane, isFinal, type JobRecord, type LaneId } from '@tollgate/journal';
import { canonicalJson, type Hex } from '@tollgate/protocol';
import { address } from '@tollgate/schemas';
import { z } from 'zod';

import type { Refund } from './refund.js';

const REFUNDS_WALLET = 'refunds';

/**
 * The names of the wallet that sends refunds on a chain, and nothing else; the first one found there sends them. A name is one
 * account on one chain, so that of several chains only one has the short name.
 * @param chain its name in the payments file
 */
export const nameRefundsWallet = (chain: string): readonly string[] => [`${REFUNDS_WALLET}-${chain}`, REFUNDS_WALLET];

export const isRefundsWallet = (name: string): boolean => name.split('-')[0] === REFUNDS_WALLET;

const account: z.ZodType<string> = address;

/** What a refund's job sends, written by the bookkeeper alone. */
const refundJobInput = z.object({
  refund: z.string().describe("The refund's id, from `nameRefund`."),
  attempt: z.int().describe('From 1; another attempt is made only after the one before has failed.'),
  payment: z.string(),
  token: account,
  amount: z
    .string()
    .regex(/^[1-9]\d{0,77}$/)
    .describe('Base units of the token, as decimal text.'),
  to: account,
  needsApproval: z.boolean().describe('Whether a person has to approve it.'),
});
export type RefundJobInput = z.output<typeof refundJobInput>;

/** A payment's refund of a number, from 1, in 1 to 64 letters: the same in the book, the ledger and the journal. */
export function nameRefund(payment: string, number: number): string {
  return `r${hash('sha256', payment, 'hex').slice(0, 32)}-${number}`;
}

/** Whether this is the name of one of the payment's refunds. */
export function isRefundOf(payment: string, refund: string): boolean {
  const [, number] = /-([1-9]\d{0,8})$/.exec(refund) ?? [];
  return number !== undefined && nameRefund(payment, Number(number)) === refund;
}

/**
 * The id of the only job that may send this attempt of a refund. It is made of both, so that two jobs cannot send it, not
 * even after the book was restored from a copy.
 */
export function nameRefundJob(lane: LaneId, { refund, attempt }: Pick<RefundJobInput, 'refund' | 'attempt'>): string {
  return `${codeOfLane(lane)}-${hash('sha256', `${refund}\n${attempt}`, 'hex').slice(0, 24)}`;
}

/** Null for a job that is none of the bookkeeper's refunds. */
export function readRefundJob({ id, lane, input }: Pick<JobRecord, 'id' | 'lane' | 'input'>): RefundJobInput | null {
  const { data } = refundJobInput.safeParse(input);
  return data && nameRefundJob(lane, data) === id ? data : null;
}

/** What the attempt's job sends. */
export function describeInput({ id, attempt, payment, asset, amount, recipient, doubts }: Refund): RefundJobInput {
  const needsApproval = doubts.length > 0;
  return { refund: id, attempt, payment, token: asset, amount, to: recipient, needsApproval };
}

/** Whether it needs an approval may differ: the doubts of a book that was restored are others. */
export function isSameTransfer(job: JobRecord, input: RefundJobInput): boolean {
  const known = readRefundJob(job);
  const { needsApproval } = input;
  return known !== null && canonicalJson({ ...known, needsApproval }) === canonicalJson({ ...input });
}

/**
 * Whether the job ended without success. Nothing of it is on the chain, unless an operator abandoned it: then that is not
 * known.
 */
export const hasFailed = ({ state }: JobRecord): boolean => isFinal(state) && state !== 'FINAL';

/** The hashes of all transactions that a job has signed. */
export function listHashes({ steps }: JobRecord): string[] {
  return steps.flatMap(({ attempts }) => attempts.map(({ hash }) => hash));
}

/** The transaction of a job that is final. */
export function minedTransaction({ id, steps }: JobRecord): Hex {
  const mined = steps.at(-1)?.mined ?? null;
  if (mined === null) throw new Error(`job ${id} is final and has no transaction`);
  return mined.hash;
}
