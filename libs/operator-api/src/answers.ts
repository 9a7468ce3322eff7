import { agentJobView, jobFailure, jobPage, nonceGap, plannedCall, walletLimit } from '@tollgate/agent-jobs';
import { comparedScope, reconciliation, removedRequests } from '@tollgate/book';
import { JOB_STATES } from '@tollgate/protocol';
import { refundSchema } from '@tollgate/refunds';
import { targetView } from '@tollgate/webhooks';
import { z } from 'zod';

const textOrNull = z.string().nullable();

// What the libraries do not answer by themselves. Times are ISO 8601, UTC.

const trouble = z.object({
  about: z
    .string()
    .describe(
      '`book`, `outbox`, `chain`, `jobs`, `refunds`, `owed`, `webhooks`, or the name or the address of an account.',
    ),
  what: z.string().describe('One sentence.'),
  mend: z.string().describe('The command that mends it, or what to do.'),
});
export type Trouble = z.output<typeof trouble>;

export const bookHealth = z.object({
  well: z.boolean().describe('Nothing of `troubles` is there.'),
  troubles: z.array(trouble),
  kind: z.enum(['pglite', 'postgres']),
  epoch: z.int(),
  holder: z.string(),
  since: z.string(),
  completeFrom: textOrNull.describe('Every change of money since then is in the book.'),
  lastBooking: z.int(),
  chainHash: z.string(),
  unreadEvents: z.int().describe('Events that this release cannot read.'),
  refusedEvents: z.int().describe('Events that the database refuses to book.'),
  gaps: z
    .array(z.object({ since: z.string(), until: z.string() }))
    .describe(
      'Times of which the book may lack events: it was restored from a copy, is new, or its database has lost some.',
    ),
  closingKey: z.string().describe('Whose signature the closings have.'),
});
export type BookHealth = z.output<typeof bookHealth>;

export const removed = removedRequests.extend({ before: z.string() });

/** What the seller is paid in. */
const sellerOption = z.object({
  network: z.string(),
  chainId: z.int(),
  asset: z.object({ address: z.string(), symbol: z.string(), decimals: z.int() }),
  payTo: z.string(),
  explorerUrl: textOrNull.describe('Where people look at transactions.'),
});
export type SellerOption = z.output<typeof sellerOption>;

/** The first option, and all of them. */
export const sellerFacts = sellerOption.extend({
  options: z
    .array(sellerOption.extend({ name: z.string() }))
    .readonly()
    .describe('Every token that is accepted, the preferred one first.'),
});
export type SellerFacts = z.output<typeof sellerFacts>;

const scopeAnswer = comparedScope.extend({
  comparedAt: textOrNull.describe('When the comparison was made; null before the first.'),
  trouble: textOrNull.describe('Why the result is old; null: it is not.'),
});

/** The lists are of all chains. Of the other fields, those outside `scopes` are of the first token, and the worst of all. */
export const reconcileAnswer = scopeAnswer.extend({ ...reconciliation.shape, scopes: z.array(scopeAnswer) });
export type ReconcileAnswer = z.output<typeof reconcileAnswer>;

export const operatorJob = agentJobView
  .extend({
    keyId: z.string().describe('The API key that submitted it.'),
    chainId: z.int(),
    address: z.string(),
    calls: z
      .array(plannedCall)
      .readonly()
      .describe('Its plan as it would be sent now, call by call; empty before it is planned.'),
    planDigest: textOrNull.describe('What an approval names. Null: the job needs none, or is not planned yet.'),
    doubts: z
      .array(z.string())
      .readonly()
      .exactOptional()
      .describe('Why a refund needs the approval; only of one that waits for it, and not in a list.'),
  })
  .meta({ id: 'OperatorJob' });
export type OperatorJob = z.output<typeof operatorJob>;

export const operatorJobPage = jobPage(operatorJob);
export type OperatorJobPage = z.output<typeof operatorJobPage>;

export const operatorRefund = refundSchema
  .extend({
    jobState: z
      .enum([...JOB_STATES, 'unreadable'])
      .nullable()
      .describe(
        'The state of its job; `unreadable`: its record cannot be read, and it may still send; null: it has none, or the journal no longer has it.',
      ),
    planDigest: textOrNull.describe(
      'What an approval of the job names; null: it needs none, is not planned yet, or cannot be read.',
    ),
  })
  .meta({ id: 'OperatorRefund' });
export type OperatorRefund = z.output<typeof operatorRefund>;

export const operatorRefundPage = z.object({
  refunds: z.array(operatorRefund).readonly(),
  cursor: textOrNull.describe('Continues after this page; null when it was the last.'),
});
export type OperatorRefundPage = z.output<typeof operatorRefundPage>;

const limitToday = walletLimit.extend({
  leftToday: textOrNull.describe('What is left of `perDay` today, UTC: base units.'),
});
export type LimitToday = z.output<typeof limitToday>;

/** An account that sends transactions: a wallet of agent jobs, or a relayer that settles payments. */
export const operatorWallet = z
  .object({
    role: z.enum(['wallet', 'relayer']),
    name: textOrNull.describe('Null for a relayer, and for a wallet whose name was removed.'),
    address: z.string(),
    chainId: z.int(),
    nextNonce: z.int().nullable().describe('The nonce that is given out next; null: not adopted yet.'),
    openJobs: z.int(),
    inFlight: z.int().describe('Transactions that are sent or signed, and not mined.'),
    balanceWei: textOrNull.describe('Wei; null where the chain does not answer, or the account is on another one.'),
    tokenBalance: textOrNull.describe(
      "Base units of the seller's first token on its chain; null where `balanceWei` is.",
    ),
    refundable: textOrNull.describe(
      'Of the wallet that pays refunds: the most of that token that one can pay back now, in base units. Null for other accounts, or unknown.',
    ),
    tokens: z
      .array(z.object({ asset: z.string(), balance: textOrNull, refundable: textOrNull }))
      .readonly()
      .describe("The same of each of the seller's tokens on its chain."),
    paused: jobFailure.nullable(),
    frozen: z
      .enum(['restarted', 'lost', 'chain_ahead'])
      .nullable()
      .describe('Why it must be compared with the chain before it sends anything.'),
    gap: nonceGap.nullable().describe('The nonce that it waits for and nothing uses; null: none.'),
    heldBy: textOrNull.describe('The process that sends for it.'),
    limits: z
      .array(limitToday)
      .readonly()
      .nullable()
      .describe('Null before its worker has published them; empty: its policy limits no amounts.'),
  })
  .meta({ id: 'OperatorWallet' });
export type OperatorWallet = z.output<typeof operatorWallet>;

export const operatorFill = z.object({
  gap: nonceGap,
  jobId: textOrNull.describe('The job whose transaction uses the nonce; null in a dry run.'),
});
export type OperatorFill = z.output<typeof operatorFill>;

export const webhookView = targetView
  .extend({
    waiting: z.int(),
    crowdedOut: z.int().describe('What was dropped because too much waited.'),
  })
  .meta({ id: 'PaymentWebhook' });
