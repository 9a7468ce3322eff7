import { setTimeout as sleep } from 'node:timers/promises';

import { listPayments, type PaymentListing } from '@tollgate/ledger';
import { Redis } from 'ioredis';

import type { RpcFault } from '../../apps/verifier/testing/rpc-stand-in.js';
import { mineTransfers } from '../../devnet/mine-transfers.js';
import { createProof, readRequirement } from '../harness/pay.js';
import { retryUntilPaid } from '../harness/retry.js';
import { startShop, type Shop } from '../harness/start-shop.js';
import { createRandom, type Random } from './random.js';

export interface ChaosPlan {
  seed: number;
  payments: number;
  /** Clients that redeem at the same time. */
  clients: number;
  /** Faults one after the other; the clients go on until all are served, the faults end with the last of these. */
  faults: number;
}

export interface ChaosReport {
  /** The body each payment ended with, and what its client was told before. */
  answers: { txHash: string; body: string; before: (number | 'no answer')[] }[];
  /** Each again, afterwards, by another gateway. */
  again: string[];
  /** The Idempotency-Keys the upstream saw. */
  upstreamKeys: (string | undefined)[];
  ledger: PaymentListing[];
  faults: string[];
}

const QUOTE = '/v1/quotes/A';
const CRASHES = ['gateway', 'gateway', 'verifier', 'verifier', 'redis'] as const;
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
      VERIFY_DEADLINE_MS: '4000',
      RPC_TIMEOUT_MS: '500',
      RECEIPT_WAIT_MS: '0',
    },
  });
  const redis = new Redis(shop.stack.redis.url);
  redis.on('error', () => undefined);
  try {
    let made = 0;
    shop.upstream.answer = (_, response) => {
      const text = `answer ${(made += 1)}`;
      setTimeout(() => response.end(text), 1 + (made % 40));
    };
    const proofs = await payAll(shop, plan.payments);
    shop.rpc.requests.length = 0;

    const faults: string[] = [];
    const answers: ChaosReport['answers'] = [];
    const served = serveAll(shop, plan, proofs, answers);
    // The faults follow the progress of the clients, so that they hit work and not its end.
    const isDone = () => answers.length >= plan.payments;
    await Promise.all([served, breakThings(shop, plan, random, faults, isDone)]);

    const again: string[] = [];
    for (const { proof } of proofs) again.push(await (await redeem(shop, proof, random.below(2))).text());
    return {
      answers,
      again: proofs.map((_, index) => again[index]!),
      upstreamKeys: shop.upstream.requests.map(({ headers }) => headers['idempotency-key'] as string | undefined),
      ledger: (await listPayments(redis, { limit: 1_000_000 })).payments,
      faults,
    };
  } catch (error) {
    throw new Error(`chaos with seed ${plan.seed}: ${String(error)}\n${shop.stack.logs()}`, { cause: error });
  } finally {
    redis.disconnect();
    await shop.stop();
  }
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

async function serveAll(shop: Shop, plan: ChaosPlan, proofs: Proof[], answers: ChaosReport['answers']): Promise<void> {
  let next = 0;
  const client = async (number: number) => {
    for (let index = next++; index < proofs.length; index = next++) {
      const { txHash, proof } = proofs[index]!;
      let tries = number;
      // A payer who paid is never asked to pay: a 402 ends the run.
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
  isDone: () => boolean,
): Promise<void> {
  const { gateways, verifiers, redis } = shop.stack;
  for (let count = 0; count < plan.faults && !isDone(); count += 1) {
    const rpcFault = random.below(2) === 0 ? random.pick(RPC_FAULTS) : undefined;
    shop.rpc.fail(rpcFault);
    const crash = random.pick(CRASHES);
    const number = random.below(2);
    faults.push(`${crash} ${number}${rpcFault === undefined ? '' : `, chain: ${rpcFault.kind}`}`);
    await sleep(random.below(200));
    if (crash === 'redis') {
      await redis.kill();
      await sleep(random.below(300));
      await redis.start();
    } else {
      const service = (crash === 'gateway' ? gateways : verifiers)[number]!;
      await service.kill('SIGKILL');
      await service.restart();
    }
    shop.rpc.fail(undefined);
    await sleep(random.below(150));
  }
}
