import { setTimeout as sleep } from 'node:timers/promises';

import type { Hex } from '@tollgate/protocol';

import { parseOffer, presentV2, type OfferedChallenge } from '../../apps/gateway/test/present-payments.js';
import type { DevnetAccount, DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { signAuthorization } from '../../tools/devnet/chain/sign-authorization.js';
import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { BalancedClient } from '../harness/balanced-client.js';
import { createProof } from '../harness/pay.js';
import type { ChaosJob } from '../proofs/plan-agent-jobs.js';

const PRICE = '1000';
const SETTLED_AFTER = '/v1/quotes/A';
const SETTLED_BEFORE = '/v1/first/A';

/** A payment with the request that presents it, and the answer it bought; null without an answer. */
export interface Purchase {
  kind: 'signed' | 'by hash';
  /** The authorization's nonce, or the transaction's hash. */
  id: Hex;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

/** Everything that the load has done since the stack was started. */
export interface LoadRecord {
  prices: number;
  purchases: Purchase[];
  jobs: { job: ChaosJob; id: string }[];
  /** The outcomes before a request succeeded, and the requests that never did. */
  retries: string[];
  failures: string[];
}

export interface LoadOptions {
  chain: DevnetWithProtocols;
  client: BalancedClient;
  /** API key of the jobs. */
  token: string;
  /** Submitted in order, from the end of the record on. */
  plannedJobs: readonly ChaosJob[];
  record: LoadRecord;
}

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
    const offer = await parseOffer(await sendUntil(402, () => client.send(path), record));
    record.prices += 1;
    return offer;
  };
  const redeem = async (purchase: Purchase) => {
    record.purchases.push(purchase);
    const answer = await sendUntil(200, () => client.send(purchase.path, purchase.headers), record);
    purchase.body = await answer.text();
  };
  const buySigned = async (payer: DevnetAccount, path: string) => {
    const offer = await readPrice(path);
    const payment = await signAuthorization(chain, payer, { value: PRICE });
    const id = payment.authorization.nonce;
    await redeem({ kind: 'signed', id, path, headers: presentV2(offer, payment), body: null });
  };
  const buyByHash = async ({ address: from }: DevnetAccount, path: string) => {
    const { reference } = await readPrice(path);
    const id = await transferTokens(chain, { from, amountBaseUnits: BigInt(PRICE), lockReference: reference });
    await redeem({ kind: 'by hash', id, path, headers: { 'X-Payment': createProof(id, { reference }) }, body: null });
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
    const { id } = (await (await sendUntil(202, send, record)).json()) as { id: string };
    record.jobs.push({ job, id });
  };

  const running = [
    repeat(PAUSE_MS / 5, async () => void (await readPrice(SETTLED_AFTER))),
    repeat(PAUSE_MS, () => buySigned(chain.accounts[0]!, SETTLED_AFTER)),
    repeat(PAUSE_MS, () => buySigned(chain.accounts[1]!, SETTLED_AFTER)),
    repeat(PAUSE_MS, () => buySigned(chain.accounts[2]!, SETTLED_BEFORE)),
    repeat(PAUSE_MS, () => buyByHash(chain.accounts[3]!, SETTLED_AFTER)),
    repeat(PAUSE_MS, () => buyByHash(chain.accounts[4]!, SETTLED_BEFORE)),
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
async function sendUntil(status: number, send: () => Promise<Response>, record: LoadRecord): Promise<Response> {
  const giveUpMs = Date.now() + RETRY_FOR_MS;
  for (;;) {
    const answer = await send().catch(String);
    if (typeof answer !== 'string' && answer.status === status) return answer;
    const trouble = typeof answer === 'string' ? answer : `${answer.status}: ${await answer.text()}`;
    const mayPass = typeof answer === 'string' || RETRIED_STATUSES.includes(answer.status);
    if (!mayPass || Date.now() > giveUpMs) throw new Error(`Expected ${status}, and the last answer was ${trouble}`);
    record.retries.push(trouble);
    await sleep(PAUSE_MS);
  }
}
