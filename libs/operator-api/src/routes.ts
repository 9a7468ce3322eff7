import { jobQuery } from '@tollgate/agent-jobs';
import {
  auditPage,
  balance,
  bookProof,
  bookSummary,
  bookVerdict,
  paymentPage,
  paymentPicture,
  signedClosing,
} from '@tollgate/book';
import type { ApiKeyScope } from '@tollgate/http';
import { refundPreview } from '@tollgate/refunds';
import { letterView } from '@tollgate/webhooks';
import { z } from 'zod';

import * as answers from './answers.js';
import * as requests from './requests.js';

/** What is said of a route once: for its handler, the OpenAPI document, the commands and the console. */
export interface OperatorRoute {
  readonly scope: ApiKeyScope;
  readonly summary: string;
  /** Of a route that writes, or shows everything: how the audit table names what it does. */
  readonly act?: string;
  /** Of its answer, where it is neither 200 of a GET nor 201 of a POST. */
  readonly status?: number;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** Of a route that answers JSON. */
  readonly answer?: z.ZodType;
}

const { operatorJob, operatorRefund, operatorWallet, webhookView } = answers;
const closings = z.object({ closings: z.array(signedClosing) });

type Parts = Omit<OperatorRoute, 'scope' | 'summary' | 'act'>;

function reads<const Given extends Parts>(summary: string, parts: Given) {
  return { scope: 'operator:read', summary, ...parts } as const;
}

function writes<const Given extends Parts>(scope: ApiKeyScope, act: string, summary: string, parts: Given) {
  return { scope, act, summary, ...parts } as const;
}

const decides = (act: string, summary: string) =>
  writes('operator:approve', act, summary, { status: 200, answer: operatorJob });

const changesWallet = (act: string, summary: string) =>
  writes('operator:wallets', act, summary, { status: 200, answer: operatorWallet });

const refunds = (act: string, status: number, summary: string) =>
  writes('operator:refund', act, summary, { status, answer: operatorRefund });

/** Every route of the operator API, by its method and path. */
export const OPERATOR_ROUTES = {
  'GET /operator/payments': reads(
    'Payments that match all that is given, newest first unless another order is asked for',
    { query: requests.paymentQuery, answer: paymentPage },
  ),
  'GET /operator/payments/:id': reads('A payment with its timeline and its entries', { answer: paymentPicture }),
  'GET /operator/payments/:id/proof': reads('What was booked for a payment, provable without the database', {
    answer: bookProof,
  }),
  'GET /operator/payments/:id/refund': reads('What a refund of a payment would do, and what speaks against it', {
    answer: refundPreview,
  }),
  'GET /operator/health': reads('What is wrong and how to mend it, how far the book is, and who has it', {
    answer: answers.bookHealth,
  }),
  'GET /operator/balances': reads('The balance of each account and asset, in base units', {
    answer: z.object({ balances: z.array(balance) }),
  }),
  'GET /operator/verification': reads('Recomputes the hash chain, and names the first row that is broken', {
    answer: bookVerdict,
  }),
  'GET /operator/closings': reads('The signed closings, newest first', { answer: closings }),
  'POST /operator/closings': writes('operator:approve', 'close', 'Closes what has been booked so far, of today too', {
    answer: closings,
  }),
  'POST /operator/retention': writes(
    'operator:approve',
    'remove_requests',
    'Removes the request data of payments older than so many months; entries stay',
    { body: requests.retentionBody, answer: answers.removed },
  ),
  'GET /operator/exports/:table': reads('All payments or entries of a time, as CSV or JSON lines, oldest first', {
    query: requests.exportQuery,
  }),
  'GET /operator/summary': reads('Money, counts and durations of the last hour, day or month', {
    query: requests.summaryQuery,
    answer: bookSummary,
  }),
  'GET /operator/seller': reads('What the seller is paid in, to which account, on which chain', {
    answer: answers.sellerFacts,
  }),
  'GET /operator/audit': reads('What people did through this API, newest first', {
    query: requests.auditQuery,
    answer: auditPage,
  }),
  'GET /operator/changes': reads(
    'Server-sent events: `book` when the book has changed, `alive` every five seconds',
    {},
  ),
  'GET /operator/jobs': reads('Jobs of all wallets that match all that is given, newest first', {
    query: jobQuery,
    answer: answers.operatorJobPage,
  }),
  'GET /operator/jobs/:id': reads('A job with its plan, call by call, and the digest that an approval names', {
    answer: operatorJob,
  }),
  'POST /operator/jobs/:id/approve': {
    ...decides(
      'job.approve',
      'Approves exactly the plan with this digest; not of a job of its own, nor of one whose refund is paid, has another attempt, or was given up',
    ),
    body: requests.approvalBody,
  },
  'POST /operator/jobs/:id/cancel': decides(
    'job.cancel',
    'Cancels a job; where a transaction is in flight, the chain decides',
  ),
  'POST /operator/jobs/:id/resume': decides(
    'job.resume',
    'Lets a job that needs an operator go on; not one whose refund is paid, has another attempt, or was given up',
  ),
  'POST /operator/jobs/:id/retry': decides(
    'job.retry',
    'Repeats the request of a failed job as a new job, which it returns',
  ),
  'GET /operator/wallets': reads('The wallets of agent jobs and the relayers: balance, nonce, in flight, limits', {
    answer: z.object({ wallets: z.array(operatorWallet) }),
  }),
  'POST /operator/wallets/:name/pause': {
    ...changesWallet('wallet.pause', 'Begins no new transaction; those in flight continue'),
    body: requests.pauseBody,
  },
  'POST /operator/wallets/:name/resume': changesWallet('wallet.resume', 'Ends a pause'),
  'POST /operator/wallets/:name/fill': writes(
    'operator:wallets',
    'wallet.fill',
    'Uses the nonce that a wallet waits for and nothing uses, by a transfer of 0 to itself; cancels what had it',
    { status: 200, body: requests.fillBody, answer: answers.operatorFill },
  ),
  'POST /operator/relayers/:address/pause': {
    ...changesWallet('relayer.pause', 'Settles nothing new with this relayer; what is in flight continues'),
    body: requests.pauseBody,
  },
  'POST /operator/relayers/:address/resume': changesWallet('relayer.resume', 'Ends a pause'),
  'GET /operator/reconcile': reads('What is on the chain only, in the book only, and different', {
    query: requests.rangeQuery,
    answer: answers.reconcileAnswer,
  }),
  'GET /operator/refunds': reads('Refunds that match all that is given, newest first', {
    query: requests.refundQuery,
    answer: answers.operatorRefundPage,
  }),
  'GET /operator/refunds/:id': reads('A refund, with the state of its job', { answer: operatorRefund }),
  'POST /operator/refunds': {
    ...refunds('refund.ask', 202, 'Refunds a payment to the payer that the chain shows, once per number'),
    body: requests.refundBody,
  },
  'POST /operator/refunds/:id/retry': refunds('refund.retry', 202, 'Sends a refund again whose job has failed'),
  'POST /operator/refunds/:id/give-up': refunds(
    'refund.give_up',
    200,
    'Ends a refund whose job has failed; the payment stays closed',
  ),
  'POST /operator/refunds/:id/paid': {
    ...refunds('refund.paid', 200, 'Books a refund that was sent and whose job is gone, by its transaction'),
    body: requests.paidBody,
  },
  'GET /operator/events': reads('Events of payments as they happen (server-sent events); Last-Event-ID continues', {
    query: requests.outgoingEventQuery,
  }),
  'POST /operator/webhooks': writes(
    'operator:read',
    'add_webhook',
    'Registers a webhook target; its secret is in this answer alone',
    { body: requests.webhookBody, answer: webhookView.extend({ secret: z.string() }) },
  ),
  'GET /operator/webhooks': reads('The webhook targets of this key, oldest first', {
    answer: z.object({ webhooks: z.array(webhookView) }),
  }),
  'GET /operator/webhooks/dead-letters': reads(
    'Deliveries to the targets of this key that were given up, newest first',
    { query: requests.limitQuery, answer: z.object({ deadLetters: z.array(letterView) }) },
  ),
  'POST /operator/webhooks/:id/resend': writes(
    'operator:read',
    'resend_webhook',
    'Delivers again what was given up for this target, with all attempts',
    { status: 202, answer: z.object({ resent: z.int() }) },
  ),
  'POST /operator/webhooks/:id/enable': writes(
    'operator:read',
    'enable_webhook',
    'Enables a disabled webhook target; it receives the events from now on',
    { status: 200, answer: webhookView },
  ),
  'DELETE /operator/webhooks/:id': writes(
    'operator:read',
    'remove_webhook',
    'Removes a webhook target, of this key or of one that Redis has lost; what waits for it is dropped',
    { status: 204 },
  ),
  'GET /operator/backup': writes(
    'operator:approve',
    'copy',
    'Everything in the book at one moment, as lines of JSON, for BOOK_RESTORE',
    {},
  ),
} as const satisfies Record<`${'GET' | 'POST' | 'DELETE'} /operator/${string}`, OperatorRoute>;
