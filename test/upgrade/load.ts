import { setTimeout as sleep } from 'node:timers/promises';

import type { Hex } from '@tollgate/protocol';

import { parseOffer, presentV2, type OfferedChallenge } from '../../apps/gateway/test/present-payments.js';
import type { DevnetAccount, DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { BalancedClient } from '../harness/network/balanced-client.js';
import { createProof } from '../harness/payments/pay.js';
import type { ChaosJob } from '../proofs/plan-agent-jobs.js';

const PRICE = '1000';
const SETTLED_AFTER = '/v1/quotes/A';
const SETTLED_BEFORE = '/v1/first/A';

/** A payment with the request that presents it, and the answer it bought; null without an answer. */
export interface Purchase {
  /** A bare hash is not locked to a challenge: the first request that presents it gets the answer. */
  kind: 'signed' | 'by hash' | 'by bare hash';
  /** The authorization's nonce, or the transaction's hash. */
  id: Hex;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  /** Why it was refused for good; null for a payment that was served. */
  refusal: string | null;
}

/** Everything that the load has done since the stack was started. */
export interface LoadRecord {
  prices: number;
  purchases: Purchase[];
  jobs: { job: ChaosJob; id: string }[];
  /** The outcomes before a request succeeded, and the requests that never did. */
  retries: { trouble: string; atMs: number }[];
  failures: string[];
  /** The longest that a client had to repeat a request. */
  longestMs: number;
}

export const createRecord = (): LoadRecord => {
  return { prices: 0, purchases: [], jobs: [], retries: [], failures: [], longestMs: 0 };
};

export interface LoadOptions {
  chain: DevnetWithProtocols;
  client: BalancedClient;
  /** API key of the jobs. */
  token: string;
  /** Submitted in order, from the end of the record on. */
  plannedJobs: readonly ChaosJob[];
  record: LoadRecord;
}

const UNANSWERED = { body: null, refusal: null };
const RETRIED_STATUSES = [409, 502, 503, 504];
const RETRY_FOR_MS = 60_000;
const PAUSE_MS = 100;
const PAUSE_BETWEEN_JOBS_MS = 400;

/** Clients that request prices, buy and submit jobs until `stop`, which waits for the requests in flight. */
export function startLoad({ chain, client, token, plannedJobs, record }: LoadOptions): { stop(): Promise<void> } {
  let isOver = false;
  const repeat = async (pauseMs: number, work: () => Promise<void>) => {
    while (!isOver) {
      await work().catch((error: unknown) => record.failures.push(String(error)));
      await sleep(pauseMs);
    }
  };
  const readPrice = async (path: string): Promise<OfferedChallenge> => {
    const offer = await parseOffer(await sendUntil([402], () => client.send(path), record));
    record.prices += 1;
    return offer;
  };
  const redeem = async (purchase: Purchase) => {
    record.purchases.push(purchase);
    const answer = await sendUntil([200, 402], () => client.send(purchase.path, purchase.headers), record);
    const text = await answer.text();
    if (answer.status === 200) purchase.body = text;
    else purchase.refusal = answer.headers.get('X-Payment-Failure') ?? text;
  };
  const buySigned = async (payer: DevnetAccount, path: string) => {
    const offer = await readPrice(path);
    const payment = await signAuthorization(chain, payer, { value: PRICE });
    const id = payment.authorization.nonce;
    await redeem({ kind: 'signed', id, path, headers: presentV2(offer, payment), ...UNANSWERED });
  };
  const buyByHash = async ({ address: from }: DevnetAccount, path: string) => {
    const { reference } = await readPrice(path);
    const id = await transferTokens(chain, { from, amountBaseUnits: BigInt(PRICE), lockReference: reference });
    await redeem({
      kind: 'by hash',
      id,
      path,
      headers: { 'X-Payment': createProof(id, { reference }) },
      ...UNANSWERED,
    });
  };
  const buyByBareHash = async ({ address: from }: DevnetAccount, path: string) => {
    const id = await transferTokens(chain, { from, amountBaseUnits: BigInt(PRICE) });
    const headers = { 'X-Payment': createProof(id), 'Idempotency-Key': id };
    await redeem({ kind: 'by bare hash', id, path, headers, ...UNANSWERED });
  };
  const submitJob = async () => {
    const job = plannedJobs[record.jobs.length];
    if (!job) throw new Error('The load has run out of planned jobs.');
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': job.idempotencyKey,
    };
    const send = () => client.send('/agent/jobs', headers, JSON.stringify(job.request));
    const { id } = (await (await sendUntil([202], send, record)).json()) as { id: string };
    record.jobs.push({ job, id });
  };

  const running = [
    repeat(PAUSE_MS, async () => void (await readPrice(SETTLED_AFTER))),
    repeat(PAUSE_MS, () => buySigned(chain.accounts[0]!, SETTLED_AFTER)),
    repeat(PAUSE_MS, () => buySigned(chain.accounts[1]!, SETTLED_AFTER)),
    repeat(PAUSE_MS, () => buySigned(chain.accounts[2]!, SETTLED_BEFORE)),
    repeat(PAUSE_MS, () => buyByHash(chain.accounts[3]!, SETTLED_AFTER)),
    repeat(PAUSE_MS, () => buyByHash(chain.accounts[4]!, SETTLED_BEFORE)),
    repeat(PAUSE_MS, () => buyByBareHash(chain.accounts[5]!, SETTLED_AFTER)),
    repeat(PAUSE_BETWEEN_JOBS_MS, submitJob),
  ];
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(running);
    },
  };
}

/** As a client that repeats after passing failures: no answer, and the statuses that mean so. */
export async function sendUntil(
  statuses: readonly number[],
  send: () => Promise<Response>,
  record: LoadRecord = createRecord(),
): Promise<Response> {
  const beganMs = Date.now();
  for (;;) {
    const answer = await send().catch(String);
    const tookMs = Date.now() - beganMs;
    record.longestMs = Math.max(record.longestMs, tookMs);
    if (typeof answer !== 'string' && statuses.includes(answer.status)) return answer;
    const trouble = typeof answer === 'string' ? answer : `${answer.status}: ${await answer.text()}`;
    const mayPass = typeof answer === 'string' || RETRIED_STATUSES.includes(answer.status);
    if (!mayPass || tookMs > RETRY_FOR_MS)
      throw new Error(`Expected ${statuses.join(' or ')}, and the last answer was ${trouble}`);
    record.retries.push({ trouble, atMs: Date.now() });
    await sleep(PAUSE_MS);
  }
}
