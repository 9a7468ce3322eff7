import { setTimeout as sleep } from 'node:timers/promises';

import { FINAL_STATES, type AgentJobView } from '@tollgate/protocol';

import type { DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import type { Stack } from '../../tools/devnet/stack/stack.js';
import type { BalancedClient } from '../harness/balanced-client.js';
import { readTransfersTo, type TokenTransferred } from '../harness/read-transfers.js';
import { judgeJobs } from '../proofs/judge-agent-chaos.js';
import type { LoadRecord } from './load.js';

interface JudgedLoad {
  stack: Stack;
  chain: DevnetWithProtocols;
  client: BalancedClient;
  token: string;
  record: LoadRecord;
}

const SETTLED_WITHIN_MS = 60_000;
const ENDED_WITHIN_MS = 120_000;

/**
 * Compares what the clients saw with the chain and the journal, once the load has stopped. Returns the faults in words.
 */
export async function judgeLoad(load: JudgedLoad): Promise<string[]> {
  const { stack, chain, record } = load;
  const jobs = await readEndedJobs(load);
  const judged = await judgeJobs({ chain, wallets: stack.agents?.wallets ?? [], redisUrl: stack.redis.url, jobs });
  return [
    ...record.failures,
    ...findWrongCharges(record, await readSettledTransfers(load)),
    ...(await findOtherAnswers(load)),
    ...judged.faults,
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
async function readSettledTransfers({ chain, record }: JudgedLoad): Promise<TokenTransferred[]> {
  const served = record.purchases.filter(({ kind, body }) => kind === 'signed' && body !== null);
  const giveUpMs = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { transfers } = await readTransfersTo(chain, chain.payTo, 0);
    const nonces = new Set(transfers.map(({ nonce }) => nonce));
    if (served.every(({ id }) => nonces.has(id)) || Date.now() > giveUpMs) return transfers;
    await sleep(200);
  }
}

/** Each purchase must have been served, and be one transfer to the seller, and there must be no other transfers. */
export function findWrongCharges(
  { purchases }: Pick<LoadRecord, 'purchases'>,
  transfers: readonly TokenTransferred[],
): string[] {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  for (const { nonce, txHash } of transfers) counts.set(nonce ?? txHash, (counts.get(nonce ?? txHash) ?? 0) + 1);
  for (const { kind, id, body } of purchases) {
    const charged = counts.get(id) ?? 0;
    counts.delete(id);
    const name = `payment ${id} (${kind})`;
    if (body === null) faults.push(`${name} was not served, and charged ${charged} times`);
    else if (charged !== 1) faults.push(`${name} was served, and charged ${charged} times`);
  }
  for (const [id, count] of counts) faults.push(`${id} was charged ${count} times, and belongs to no purchase`);
  return faults;
}

/** Each payment must have bought an answer of its own, and get the same one when it is presented again. */
async function findOtherAnswers({ client, record }: JudgedLoad): Promise<string[]> {
  const served = record.purchases.filter(({ body }) => body !== null);
  const faults: string[] = [];
  const bodies = new Map<string | null, string>();
  for (const purchase of served) {
    const { id, body } = purchase;
    const other = bodies.get(body);
    if (other !== undefined) faults.push(`payments ${other} and ${id} got the same answer: ${body}`);
    bodies.set(body, id);
    const again = await client.send(purchase.path, purchase.headers).then((answer) => answer.text(), String);
    if (again !== body) faults.push(`payment ${id} got ${body}, and presented again ${again}`);
  }
  return faults;
}
