import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { FINAL_STATES, type AgentJobView } from '@tollgate/protocol';

import type { DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import type { Stack } from '../../tools/devnet/stack/stack.js';
import { expectWholeBook, type AskOperator } from '../harness/agents/operator-client.js';
import type { BalancedClient } from '../harness/network/balanced-client.js';
import { readTransfersTo, type TokenTransferred } from '../harness/payments/read-transfers.js';
import { judgeJobs } from '../proofs/judge-agent-chaos.js';
import { exportPayments, judgePayments, type LastAnswer } from '../proofs/judge-book.js';
import { sendUntil, type LoadRecord, type Purchase } from './load.js';

interface JudgedLoad {
  stack: Stack;
  chain: DevnetWithProtocols;
  client: BalancedClient;
  token: string;
  record: LoadRecord;
  /** The load's first block; the chain must have no other transfers and jobs since. Default 0. */
  fromBlock?: number;
  /** Payments that were refused and recorded for a refund. Default none. */
  owed?: ReadonlySet<string>;
  /** Asks the bookkeeper. */
  askBook: AskOperator;
  /** The last answers to the payments of earlier loads on the same chain. Default none. */
  answeredBefore?: readonly LastAnswer[];
}

/** The faults, in words. */
export interface LoadFaults {
  /** Requests that never succeeded. */
  failures: string[];
  /** Payments that were not served, or not charged once. */
  charges: string[];
  /** Payments with another answer than one of their own. */
  answers: string[];
  /** Jobs that failed. None has a reason to. */
  failedJobs: string[];
  /** Transactions of jobs that were sent twice or not at all. */
  jobs: string[];
  /** What the book lacks, has twice or has otherwise than the chain or the clients. */
  book: string[];
}

const SETTLED_WITHIN_MS = 60_000;
const ENDED_WITHIN_MS = 120_000;

/** Compares what the clients saw with the chain and the journal, once the load has stopped. */
export async function judgeLoad(load: JudgedLoad): Promise<LoadFaults> {
  const { stack, chain, record, fromBlock, owed } = load;
  const jobs = await readEndedJobs(load);
  const wallets = stack.agents?.wallets ?? [];
  const judged = await judgeJobs({ chain, wallets, redisUrl: stack.redis.url, jobs, fromBlock });
  return {
    failures: record.failures,
    charges: findWrongCharges(record, await readSettledTransfers(load), owed),
    answers: await findOtherAnswers(load),
    failedJobs: judged.failed,
    jobs: judged.faults,
    book: await findBookFaults(load),
  };
}

/** The last answer to each payment of a load. */
export function listLastAnswers({ purchases }: Pick<LoadRecord, 'purchases'>): LastAnswer[] {
  return purchases.map(({ kind, id, body }) => ({
    outcome: body === null ? 'refused' : 'answered',
    transaction: kind === 'signed' ? null : id,
    nonce: kind === 'signed' ? id : null,
  }));
}

/** Once everything is booked: compares the book with the chain, and the states of its payments with the last answers. */
async function findBookFaults({ chain, record, askBook, answeredBefore = [] }: JudgedLoad): Promise<string[]> {
  try {
    await expectWholeBook(askBook, Number(await callRpc(chain.rpcUrl, 'eth_blockNumber')));
  } catch (error) {
    return [String(error)];
  }
  const { transfers } = await readTransfersTo(chain, chain.payTo, 0);
  const lastAnswers = [...answeredBefore, ...listLastAnswers(record)];
  const { lost, doubled, different } = judgePayments(await exportPayments(askBook), transfers, lastAnswers);
  return [
    ...lost.map((name) => `the book has no payment ${name}`),
    ...doubled.map((name) => `the book has a payment that the chain has not, or has it twice: ${name}`),
    ...different.map((name) => `the book has another state than its client was told: ${name}`),
  ];
}

async function readEndedJobs({ client, token, record }: JudgedLoad) {
  const read = async (id: string) => {
    const answer = await client.send(`/agent/jobs/${id}`, { authorization: `Bearer ${token}` });
    if (answer.status !== 200) throw new Error(`Job ${id} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as AgentJobView;
  };
  const giveUpMs = Date.now() + ENDED_WITHIN_MS;
  const jobs = [];
  for (const { job, id } of record.jobs) {
    let view = await read(id);
    while (!(FINAL_STATES as readonly string[]).includes(view.state) && Date.now() < giveUpMs) {
      await sleep(200);
      view = await read(id);
    }
    jobs.push({ job, view });
  }
  return jobs;
}

/** All transfers to the seller; waits for the settlements of answers that were served before they were settled. */
async function readSettledTransfers({ chain, record, fromBlock = 0 }: JudgedLoad): Promise<TokenTransferred[]> {
  const served = record.purchases.filter(({ kind, body }) => kind === 'signed' && body !== null);
  const giveUpMs = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { transfers } = await readTransfersTo(chain, chain.payTo, fromBlock);
    const nonces = new Set(transfers.map(({ nonce }) => nonce));
    if (served.every(({ id }) => nonces.has(id)) || Date.now() > giveUpMs) return transfers;
    await sleep(200);
  }
}

/**
 * Each purchase must have been served, or be owed, and be one transfer to the seller, and there must be no other
 * transfers.
 */
export function findWrongCharges(
  { purchases }: Pick<LoadRecord, 'purchases'>,
  transfers: readonly TokenTransferred[],
  owed: ReadonlySet<string> = new Set(),
): string[] {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  for (const { nonce, txHash } of transfers) counts.set(nonce ?? txHash, (counts.get(nonce ?? txHash) ?? 0) + 1);
  for (const { kind, id, body, refusal } of purchases) {
    const charged = counts.get(id) ?? 0;
    counts.delete(id);
    const name = `payment ${id} (${kind})`;
    if (body === null && !owed.has(id)) {
      faults.push(`${name} was not served (${refusal ?? 'no answer'}), and charged ${charged} times`);
    } else if (charged !== 1) faults.push(`${name} was served, and charged ${charged} times`);
  }
  for (const [id, count] of counts) faults.push(`${id} was charged ${count} times, and belongs to no purchase`);
  return faults;
}

/** Each payment must have bought an answer of its own. */
async function findOtherAnswers({ client, record }: JudgedLoad): Promise<string[]> {
  const served = record.purchases.filter(({ body }) => body !== null);
  const faults = (await Promise.all(served.map((purchase) => presentAgain(client, purchase)))).flat();
  const bodies = new Map<string | null, string>();
  for (const { id, body } of served) {
    const other = bodies.get(body);
    if (other !== undefined) faults.push(`payments ${other} and ${id} got the same answer: ${body}`);
    bodies.set(body, id);
  }
  return faults;
}

/** A payment that was served gets the same answer again, and none for another request. Returns the faults. */
export async function presentAgain(client: BalancedClient, purchase: Purchase): Promise<string[]> {
  const { kind, id, path, headers, body } = purchase;
  const faults: string[] = [];
  const repeat = () => client.send(path, headers);
  const again = await sendUntil([200, 402], repeat).then((answer) => answer.text(), String);
  if (again !== body) faults.push(`payment ${id} (${kind}) got ${body}, and presented again ${again}`);
  if (kind !== 'by bare hash') return faults;
  const steal = () => client.send(path, { ...headers, 'Idempotency-Key': randomUUID() });
  const stolen = await sendUntil([200, 402, 409], steal);
  if (stolen.status === 200) faults.push(`payment ${id} bought another answer: ${await stolen.text()}`);
  return faults;
}
