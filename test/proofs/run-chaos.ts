import { setTimeout as sleep } from 'node:timers/promises';

import { listPayments, type PaymentListing } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import type { RpcFault } from '../../libs/chain/test/rpc-stand-in.js';
import { mineTransfers } from '../../tools/devnet/chain/mine-transfers.js';
import { callRpc } from '../../tools/devnet/processes/json-rpc.js';
import { createProof, readRequirement } from '../harness/payments/pay.js';
import { startShop, type Shop } from '../harness/payments/start-shop.js';
import { createRandom, type Random } from '../harness/random.js';
import { retryUntilPaid } from '../harness/retry.js';

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
  answers: { txHash: string; body: string; before: (number | 'no answer')[] }[];
  /** Each payment presented once more at the end, at another gateway. */
  again: { txHash: string; body: string }[];
  /** The Idempotency-Keys the upstream saw. */
  upstreamKeys: (string | undefined)[];
  ledger: PaymentListing[];
  faults: string[];
}

const QUOTE = '/v1/quotes/A';
const CRASHES = ['gateway', 'gateway', 'verifier', 'verifier', 'redis'] as const;
type Crash = (typeof CRASHES)[number];
const RPC_FAULTS: RpcFault[] = [
  { kind: 'status', status: 429 },
  { kind: 'reset' },
  { kind: 'hang' },
  { kind: 'truncate' },
  { kind: 'delay', ms: 300 },
];

/** Clients redeem payments through two gateways while everything between them and the chain is killed at random. */
export async function runChaos(plan: ChaosPlan): Promise<ChaosReport> {
  const random = createRandom(plan.seed);
  const shop = await startShop({
    gateways: 2,
    verifiers: 2,
    env: {
      LEASE_MS: '1500',
      VERIFY_RETRY_MS: '700',
      VERIFY_DEADLINE_MS: '6000',
      // Longer than the look-ups of one verifier take on a busy machine while the other is down; else all would time
      // out.
      RPC_TIMEOUT_MS: '2000',
      RECEIPT_WAIT_MS: '0',
    },
  });
  const redis = new Redis(shop.stack.redis.url);
  redis.on('error', () => undefined);
  const faults: string[] = [];
  try {
    let made = 0;
    shop.upstream.answer = (_, response) => {
      const text = `answer ${(made += 1)}`;
      setTimeout(() => response.end(text), 1 + (made % 40));
    };
    const proofs = await payAll(shop, plan.payments);
    shop.rpc.requests.length = 0;

    const answers: ChaosReport['answers'] = [];
    const run = { answers, isOver: false };
    const served = serveAll(shop, plan, proofs, { answers, faults }).finally(() => (run.isOver = true));
    const broken = breakThings(shop, plan, random, faults, run);
    // Also when a client fails: nothing may be restarted after the end.
    await Promise.allSettled([served, broken]);
    await Promise.all([served, broken]);

    const again: ChaosReport['again'] = [];
    for (const { txHash, proof } of proofs) {
      again.push({ txHash, body: await (await redeem(shop, proof, random.below(2))).text() });
    }
    return {
      answers,
      again,
      upstreamKeys: shop.upstream.requests.map(({ headers }) => headers['idempotency-key'] as string | undefined),
      ledger: (await listPayments(redis, { limit: 1_000_000 })).payments,
      faults,
    };
  } catch (error) {
    const chain = await Promise.all([tryChain(shop.chain.rpcUrl), tryChain(shop.rpc.url)]);
    const state = `after ${faults.join('; ')}; the chain says ${chain[0]}, and through its stand-in ${chain[1]}`;
    throw new Error(`chaos with seed ${plan.seed}, ${state}: ${String(error)}\n${shop.stack.logs()}`, { cause: error });
  } finally {
    redis.disconnect();
    await shop.stop();
  }
}

/**
 * The chain's answer at this URL, or the error, which separates a fault of the chain from one of the proxy before it.
 */
function tryChain(url: string): Promise<string> {
  const answer = callRpc(url, 'eth_blockNumber');
  return Promise.race([answer, sleep(2000, 'nothing within 2 s')]).then(String, String);
}

interface Proof {
  txHash: string;
  proof: string;
}

/** Half of the payments are locked to a challenge of their own. */
async function payAll(shop: Shop, count: number): Promise<Proof[]> {
  const references: string[] = [];
  for (let index = 0; index < count; index += 1) {
    references.push((await readRequirement(shop.url(QUOTE, index % 2))).extra.reference);
  }
  const terms = { amountBaseUnits: 1000n };
  const half = Math.ceil(count / 2);
  const locked = await mineTransfers(shop.chain, { ...terms, count: half, lockReferences: references.slice(0, half) });
  const bare = await mineTransfers(shop.chain, { ...terms, count: count - half });
  return [...locked, ...bare].map((txHash, index) => ({
    txHash,
    proof: createProof(txHash, index < half ? { reference: references[index]! } : {}),
  }));
}

function redeem(shop: Shop, proof: string, gateway: number): Promise<Response> {
  const headers = { 'X-Payment': proof, 'Idempotency-Key': 'chaos' };
  return fetch(shop.url(QUOTE, gateway), { headers, signal: AbortSignal.timeout(10_000) });
}

type Progress = Pick<ChaosReport, 'answers' | 'faults'>;

async function serveAll(shop: Shop, plan: ChaosPlan, proofs: Proof[], { answers, faults }: Progress): Promise<void> {
  let next = 0;
  const client = async (number: number) => {
    for (let index = next++; index < proofs.length; index = next++) {
      // Each fault gets its share of the payments, so that neither clients nor faults run ahead of the others.
      while (faults.length * proofs.length <= index * plan.faults) await sleep(5);
      const { txHash, proof } = proofs[index]!;
      let tries = number;
      // A payer that paid is never asked to pay again: a 402 ends the run.
      const { body, before } = await retryUntilPaid(() => redeem(shop, proof, tries++ % 2));
      answers.push({ txHash, body, before });
    }
  };
  await Promise.all(Array.from({ length: plan.clients }, (_, number) => client(number)));
}

async function breakThings(
  shop: Shop,
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
    const number = random.below(2);
    faults.push(`${crash} ${number}${rpcFault === undefined ? '' : `, chain: ${rpcFault.kind}`}`);
    shop.rpc.fail(rpcFault);
    await sleep(random.below(200));
    const restarted = crashAndRestart(shop, crash, number, random.below(300));
    // A verifier is ready only when it has reached the chain.
    await sleep(random.below(1000));
    shop.rpc.fail(undefined);
    await restarted;
    await sleep(random.below(150));
  }
}

async function crashAndRestart({ stack }: Shop, crash: Crash, number: number, downMs: number): Promise<void> {
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
