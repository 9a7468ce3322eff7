import { Journal } from '@tollgate/journal';
import { FINAL_STATES, type AgentJobEvent, type AgentJobView } from '@tollgate/protocol';
import { createPublicClient, erc20Abi, http, type Hex } from 'viem';

import { listTransfers } from '../../packages/client/test/paid-server.js';
import type { DevnetWithProtocols } from '../../tools/devnet/chain/chain.js';
import { withRedis } from '../../tools/devnet/processes/with-redis.js';
import type { AgentWallet } from '../../tools/devnet/stack/agent-setup.js';
import { readWalletHistory, type SentTransaction } from '../harness/agents/wallet-history.js';
import type { ChaosJob } from './plan-agent-jobs.js';

export interface JobFacts {
  chain: DevnetWithProtocols;
  wallets: readonly AgentWallet[];
  redisUrl: string;
  jobs: readonly { job: ChaosJob; view: AgentJobView }[];
  /** Default 0. */
  fromBlock?: number | undefined;
}

export interface AgentChaosFacts extends JobFacts {
  /** Events by SSE and by webhook. */
  streamed: readonly AgentJobEvent[];
  posted: readonly AgentJobEvent[];
}

/** Compares the journal's jobs with the chain and with the reported events. */
export async function judgeAgentChaos(facts: AgentChaosFacts) {
  const { failed, faults, ...counts } = await judgeJobs(facts);
  const others = [
    ...(await findWrongPurchases(facts)),
    ...findUnreported('SSE', facts.jobs, facts.streamed),
    ...findUnreported('webhook', facts.jobs, facts.posted),
    ...findSecondIds(facts),
  ];
  return { ...counts, faults: [...failed, ...faults, ...others] };
}

/**
 * Compares the journal with the chain: `failed` lists every job that failed, `faults` every missing nonce, and every step
 * or payment that was sent twice. Since that block the wallets must have done these jobs only, and all must have ended.
 */
export async function judgeJobs(facts: JobFacts) {
  const history = await readWalletHistory(
    facts.chain.rpcUrl,
    facts.wallets.map(({ address }) => address),
    facts.fromBlock,
  );
  const faults = [
    ...(await findGaps(facts, history)),
    ...findDoubles(facts, history),
    ...(await findWrongPayments(facts)),
  ];
  const states: Record<string, number> = {};
  for (const { view } of facts.jobs) states[view.state] = (states[view.state] ?? 0) + 1;
  return {
    failed: facts.jobs.flatMap(findWrongEnd),
    faults,
    states,
    transactions: [...history.values()].flat().length,
  };
}

/** No job here has a reason to fail. */
function findWrongEnd({ job, view }: JobFacts['jobs'][number]): string[] {
  const allowed = job.cancelAfterMs === null ? ['FINAL'] : ['FINAL', 'CANCELLED'];
  if (allowed.includes(view.state)) return [];
  return [`${view.id} (${view.operation}) is ${view.state}: ${JSON.stringify(view.failure)}`];
}

/** Every nonce from the first on is used, and the journal's counter equals the chain's. */
async function findGaps({ wallets, redisUrl }: JobFacts, history: Map<Hex, SentTransaction[]>): Promise<string[]> {
  const lanes = await withRedis(redisUrl, (redis) => {
    const journal = new Journal({ redis, timeoutMs: 60_000 });
    return Promise.all(wallets.map(({ lane }) => journal.readLane(lane)));
  });
  const faults: string[] = [];
  for (const [index, { name, lane }] of wallets.entries()) {
    const nextNonce = lanes[index]?.nextNonce ?? null;
    const nonces = history.get(lane.address)?.map(({ nonce }) => nonce) ?? [];
    const gap = nonces.findIndex((nonce, index) => nonce !== nonces[0]! + index);
    if (gap > 0) faults.push(`${name}: no transaction has nonce ${nonces[gap - 1]! + 1}`);
    if (nonces.length > 0 && nextNonce !== nonces.at(-1)! + 1) {
      faults.push(`${name}: the journal's next nonce is ${nextNonce}, the chain's ${nonces.at(-1)! + 1}`);
    }
  }
  return faults;
}

/** Each step with a nonce was mined once, by the attempt in the journal; nothing else was sent. */
function findDoubles({ jobs }: JobFacts, history: Map<Hex, SentTransaction[]>): string[] {
  const mined = new Set([...history.values()].flat().map(({ hash }) => hash));
  const steps = jobs.flatMap(({ view }) => view.steps.map((step, index) => ({ ...step, name: `${view.id}/${index}` })));
  const faults: string[] = [];
  for (const { name, nonce, state, attempts, mined: record } of steps) {
    const found = attempts.filter(({ txHash }) => mined.has(txHash as Hex)).map(({ txHash }) => txHash);
    for (const hash of found) mined.delete(hash as Hex);
    const expected = nonce === null ? 0 : 1;
    if (found.length !== expected) faults.push(`step ${name} (${state}) was mined ${found.length} times`);
    if (expected === 1 && record?.txHash !== found[0]) faults.push(`step ${name} is recorded with ${record?.txHash}`);
  }
  for (const hash of mined) faults.push(`transaction ${hash} belongs to no step`);
  return faults;
}

/** Each receiver is paid by one job, so its balance shows, without the journal, how often that job was carried out. */
async function findWrongPayments({ chain, jobs }: JobFacts): Promise<string[]> {
  const client = createPublicClient({ transport: http(chain.rpcUrl, { batch: true }) });
  const checks = jobs.map(async ({ job: { request, receiver }, view }) => {
    if (request.operation !== 'transfer') return [];
    const isUsdc = request.input['token'] === 'USDC';
    const balance = isUsdc
      ? await client.readContract({ address: chain.asset, abi: erc20Abi, functionName: 'balanceOf', args: [receiver] })
      : await client.getBalance({ address: receiver });
    const once = isUsdc ? 250_000n : 10n ** 15n;
    const expected = view.state === 'FINAL' ? once : 0n;
    return balance === expected ? [] : [`${view.id} (${view.state}) paid ${balance}, not ${expected}`];
  });
  return (await Promise.all(checks)).flat();
}

/** Each purchase that ended well moved its price once; no other signature of a wallet moved anything. */
async function findWrongPurchases({ chain, wallets, jobs }: JobFacts): Promise<string[]> {
  const faults = wallets.map(async ({ name, address }) => {
    const paid = (await listTransfers(chain, address)).length;
    const bought = jobs.filter(
      ({ view }) => view.operation === 'payment' && view.wallet === name && view.state === 'FINAL',
    ).length;
    return paid === bought ? [] : [`${name}: ${bought} purchases ended well, and ${paid} were paid`];
  });
  return (await Promise.all(faults)).flat();
}

function findUnreported(way: string, jobs: JobFacts['jobs'], events: readonly AgentJobEvent[]): string[] {
  const ends = new Map<string, Set<string>>();
  for (const { id, jobId } of events.filter(isEnd)) ends.set(jobId, (ends.get(jobId) ?? new Set()).add(id));
  return jobs.flatMap(({ view }) => {
    const ids = [...(ends.get(view.id) ?? [])];
    if (ids.length === 1 && ids[0]!.startsWith(`${view.id}:${view.state}:`)) return [];
    return [`${way}: the end of ${view.id} (${view.state}) came as ${ids.join(', ') || 'nothing'}`];
  });
}

/** SSE and webhook report the same end under the same id. */
function findSecondIds({ streamed, posted }: AgentChaosFacts): string[] {
  const ids = new Map(streamed.filter(isEnd).map(({ jobId, id }) => [jobId, id]));
  return posted
    .filter(isEnd)
    .filter(({ jobId, id }) => ids.has(jobId) && ids.get(jobId) !== id)
    .map(({ jobId, id }) => `${jobId} ended as ${id} by webhook, as ${ids.get(jobId)} by SSE`);
}

/** True for the event that reports a final state; its id names the state. */
export function isEnd({ id }: AgentJobEvent): boolean {
  return (FINAL_STATES as readonly string[]).includes(id.split(':')[1] ?? '');
}
