import { setTimeout as sleep } from 'node:timers/promises';

import { listPayments, type PaymentListing } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import type { RpcFault } from '../../libs/chain/test/rpc-stand-in.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import type { Stack } from '../../tools/devnet/stack/stack.js';
import { createRandom, type Random } from '../harness/random.js';
import { retryUntilPaid } from '../harness/retry.js';
import { preparePayments, type ChaosPayment } from './chaos-payments.js';
import { startMarket, type Market } from './start-market.js';

export interface ChaosPlan {
  seed: number;
  payments: number;
  /** Clients that redeem at the same time. */
  clients: number;
  /** Faults, one after the other; each lasts for its share of the payments. */
  faults: number;
}

export interface ChaosReport {
  /** The final body of each payment, and the earlier outcomes of its requests. */
  answers: { name: string; body: string; before: (number | 'no answer')[] }[];
  /** Each payment presented once more at the end, at another gateway. */
  again: { name: string; body: string }[];
  /** The Idempotency-Keys the upstream saw. */
  upstreamKeys: (string | undefined)[];
  ledger: PaymentListing[];
  faults: string[];
}

const CRASHES = ['gateway', 'gateway', 'verifier', 'verifier', 'redis'] as const;
type Crash = (typeof CRASHES)[number];
const RPC_FAULTS: RpcFault[] = [
  { kind: 'status', status: 429 },
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'truncate' },
  { kind: 'delay', ms: 300 },
];

/**
 * Clients redeem payments of every method in three tokens on two chains, through two gateways, while everything between
 * them and the chains is killed at random.
 */
export async function runChaos(plan: ChaosPlan): Promise<ChaosReport> {
  const random = createRandom(plan.seed);
  const market = await startMarket();
  const { chains, rpcs, stack, upstream } = market;
  const redis = new Redis(stack.redis.url);
  redis.on('error', () => undefined);
  const faults: string[] = [];
  try {
    let made = 0;
    upstream.answer = (_, response) => {
      const text = `answer ${(made += 1)}`;
      setTimeout(() => response.end(text), 1 + (made % 40));
    };
    const payments = await preparePayments(chains, plan.payments, (index) => market.url(index % 2));
    for (const rpc of rpcs) rpc.requests.length = 0;

    const answers: ChaosReport['answers'] = [];
    const run = { answers, isOver: false };
    const served = serveAll(market, plan, payments, { answers, faults }).finally(() => (run.isOver = true));
    const broken = breakThings(market, plan, random, faults, run);
    // Also when a client fails: nothing may be restarted after the end.
    await Promise.allSettled([served, broken]);
    await Promise.all([served, broken]);

    const again: ChaosReport['again'] = [];
    for (const payment of payments) {
      const { body } = await retryUntilPaid(() => redeem(market, payment, random.below(2)));
      again.push({ name: payment.name, body });
    }
    return {
      answers,
      again,
      upstreamKeys: upstream.requests.map(({ headers }) => headers['idempotency-key'] as string | undefined),
      ledger: (await listPayments(redis, { limit: 1_000_000 })).payments,
      faults,
    };
  } catch (error) {
    const asked = [chains.first.rpcUrl, chains.second.rpcUrl, ...rpcs.map(({ url }) => url)].map(tryChain);
    const [first, second, ...through] = await Promise.all(asked);
    const state = `after ${faults.join('; ')}; the chains say ${first} and ${second}, through their stand-ins ${through.join(' and ')}`;
    throw new Error(`chaos with seed ${plan.seed}, ${state}: ${String(error)}\n${stack.logs()}`, { cause: error });
  } finally {
    redis.disconnect();
    await market.stop();
  }
}

/**
 * The chain's answer at this URL, or the error, which separates a fault of the chain from one of the proxy before it.
 */
function tryChain(url: string): Promise<string> {
  const answer = callRpc(url, 'eth_blockNumber');
  return Promise.race([answer, sleep(2000, 'nothing within 2 s')]).then(String, String);
}

function redeem(market: Market, { headers }: ChaosPayment, gateway: number): Promise<Response> {
  return fetch(market.url(gateway), {
    headers: { ...headers, 'Idempotency-Key': 'chaos' },
    signal: AbortSignal.timeout(10_000),
  });
}

type Progress = Pick<ChaosReport, 'answers' | 'faults'>;

async function serveAll(
  market: Market,
  plan: ChaosPlan,
  payments: readonly ChaosPayment[],
  { answers, faults }: Progress,
): Promise<void> {
  let next = 0;
  const client = async (number: number) => {
    for (let index = next++; index < payments.length; index = next++) {
      // Each fault gets its share of the payments, so that neither clients nor faults run ahead of the others.
      while (faults.length * payments.length <= index * plan.faults) await sleep(5);
      const payment = payments[index]!;
      let tries = number;
      // A payer that paid is never asked to pay again: a 402 ends the run.
      const { body, before } = await retryUntilPaid(() => redeem(market, payment, tries++ % 2));
      answers.push({ name: payment.name, body, before });
    }
  };
  await Promise.all(Array.from({ length: plan.clients }, (_, number) => client(number)));
}

async function breakThings(
  market: Market,
  plan: ChaosPlan,
  random: Random,
  faults: string[],
  run: { answers: readonly unknown[]; isOver: boolean },
): Promise<void> {
  const crashes: Crash[] = [];
  for (let count = 0; count < plan.faults; count += 1) {
    while (!run.isOver && run.answers.length * plan.faults < (count - 1) * plan.payments) await sleep(5);
    if (run.isOver) return;
    const rpcFault = random.below(2) === 0 ? random.pick(RPC_FAULTS) : undefined;
    if (crashes.length === 0) crashes.push(...random.shuffle(CRASHES));
    const crash = crashes.pop()!;
    const number = random.below(crash === 'verifier' ? 4 : 2);
    // The chains in turn.
    const rpc = market.rpcs[count % 2]!;
    faults.push(`${crash} ${number}${rpcFault === undefined ? '' : `, chain ${(count % 2) + 1}: ${rpcFault.kind}`}`);
    rpc.fail(rpcFault);
    await sleep(random.below(200));
    const restarted = crashAndRestart(market.stack, crash, number, random.below(300));
    // A verifier is ready only when it has reached the chain.
    await sleep(random.below(1000));
    rpc.fail(undefined);
    await restarted;
    await sleep(random.below(150));
  }
}

async function crashAndRestart(stack: Stack, crash: Crash, number: number, downMs: number): Promise<void> {
  if (crash === 'redis') {
    await stack.redis.kill();
    await sleep(downMs);
    await stack.redis.start();
    return;
  }
  const service = (crash === 'gateway' ? stack.gateways : stack.verifiers)[number]!;
  await service.kill('SIGKILL');
  await service.restart();
}
