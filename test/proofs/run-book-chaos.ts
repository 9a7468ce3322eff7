import { setTimeout as sleep } from 'node:timers/promises';

import { transferTokens } from '../../tools/devnet/chain/transfer-tokens.js';
import type { PostgresServer } from '../../tools/devnet/processes/postgres.js';
import type { ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import type { AskOperator } from '../harness/agents/operator-client.js';
import { createProof, payLocked } from '../harness/payments/pay.js';
import { createRandom, type Random } from '../harness/random.js';
import { retryUntilPaid } from '../harness/retry.js';
import { PRICE, type SignedSales } from '../harness/stack/use-signed-sales.js';
import type { LastAnswer } from './judge-book.js';

export interface BookChaosPlan {
  seed: number;
  /** kill -9 of a process, a server or both. */
  kills: number;
  /** Clients that pay at the same time. */
  clients: number;
}

export interface BookChaosReport {
  lastAnswers: LastAnswer[];
  /** How often each was killed. */
  kills: Record<Victim, number>;
}

const VICTIMS = ['bookkeeper', 'postgres', 'redis', 'verifier', 'gateway', 'agent-worker'] as const;
type Victim = (typeof VICTIMS)[number];

const QUOTE = '/v1/quotes/A';
/** The upstream fails for it, so its payments are released. */
export const BROKEN = '/v1/quotes/BROKEN';
export const BROKEN_ANSWER = '{"broken":true}';
const REPEATED = [409, 502, 503, 504, 'no answer'] as const;
/** One of so many payments that bought nothing is refunded. */
const REFUNDED_EACH = 3;

/**
 * Clients buy, and pay for what fails, and an operator refunds some of that, while everything that keeps books is killed
 * at random.
 */
export async function runBookChaos(
  sales: SignedSales,
  postgres: PostgresServer,
  ask: AskOperator,
  plan: BookChaosPlan,
): Promise<BookChaosReport> {
  const random = createRandom(plan.seed);
  const lastAnswers: LastAnswer[] = [];
  const run = { isOver: false };
  const clients = Array.from({ length: plan.clients }, (_, client) => payAgain(sales, client, lastAnswers, run));
  const operator = refundAgain(ask, lastAnswers, run);
  const killing = killAtRandom(sales, postgres, plan, random).finally(() => (run.isOver = true));
  // Also when a client fails: nothing may be restarted after the end.
  await Promise.allSettled([killing, operator, ...clients]);
  await Promise.all([operator, ...clients]);
  return { lastAnswers, kills: await killing };
}

async function payAgain(
  sales: SignedSales,
  client: number,
  lastAnswers: LastAnswer[],
  run: { isOver: boolean },
): Promise<void> {
  const kinds = [buySigned, buyByTransfer, payForNothing, payTooOften];
  for (let turn = client; !run.isOver; turn++) {
    const pay = kinds[turn % kinds.length] ?? buySigned;
    lastAnswers.push(await pay(sales, client, turn));
  }
}

/** Asks for a refund of one payment after the other, twice each; whoever waits for them is the caller. */
async function refundAgain(ask: AskOperator, lastAnswers: LastAnswer[], run: { isOver: boolean }): Promise<void> {
  for (let seen = 0; !run.isOver || seen < lastAnswers.length; seen++) {
    while (seen >= lastAnswers.length && !run.isOver) await sleep(100);
    const one = lastAnswers[seen];
    if (one === undefined || one.outcome === 'answered' || seen % REFUNDED_EACH !== 0) continue;
    await untilDone(async () => {
      const { payments } = JSON.parse(await ask(`payments?transaction=${one.transaction}`)) as {
        payments: { id: string }[];
      };
      const [payment] = payments;
      if (payment === undefined) throw new Error('the payment is not in the book yet');
      for (let times = 0; times < 2; times++) await ask('refunds', { payment: payment.id });
    });
    one.outcome = 'refunded';
  }
}

async function buySigned(sales: SignedSales, client: number, turn: number): Promise<LastAnswer> {
  const payment = await sales.sign({}, sales.chain.accounts[client]);
  const purchase = await untilDone(() => sales.present(payment));
  await retryUntilPaid(() => purchase.send(turn % 2), REPEATED);
  return { outcome: 'answered', transaction: null, nonce: payment.authorization.nonce };
}

async function buyByTransfer(sales: SignedSales, _client: number, turn: number): Promise<LastAnswer> {
  const { txHash, proof } = await untilDone(() => payLocked(sales.chain, sales.url(QUOTE, turn % 2)));
  await retryUntilPaid(() => present(sales, QUOTE, proof, turn), REPEATED);
  return { outcome: 'answered', transaction: txHash, nonce: null };
}

/** The upstream answers 500: the payment is released, and never presented again. */
async function payForNothing(sales: SignedSales, _client: number, turn: number): Promise<LastAnswer> {
  const txHash = await transferTokens(sales.chain, { amountBaseUnits: BigInt(PRICE) });
  const { body } = await retryUntilPaid(() => present(sales, BROKEN, createProof(txHash), turn), REPEATED, 500);
  if (body !== BROKEN_ANSWER) throw new Error(`a payer was answered 500, and not by the upstream: ${body}`);
  return { outcome: 'released', transaction: txHash, nonce: null };
}

/** Presented again and again for what fails, the payment is refused in the end. */
async function payTooOften(sales: SignedSales, _client: number, turn: number): Promise<LastAnswer> {
  const txHash = await transferTokens(sales.chain, { amountBaseUnits: BigInt(PRICE) });
  let tries = turn;
  await retryUntilPaid(() => present(sales, BROKEN, createProof(txHash), tries++), [...REPEATED, 500], 402);
  return { outcome: 'refused', transaction: txHash, nonce: null };
}

function present(sales: SignedSales, path: string, proof: string, gateway: number): Promise<Response> {
  const headers = { 'X-Payment': proof };
  return fetch(sales.url(path, gateway % 2), { headers, signal: AbortSignal.timeout(15_000) });
}

/** A challenge is asked for again until a gateway is there. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  const giveUpMs = Date.now() + 90_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > giveUpMs) throw error;
      await sleep(100);
    }
  }
}

async function killAtRandom(
  sales: SignedSales,
  postgres: PostgresServer,
  plan: BookChaosPlan,
  random: Random,
): Promise<Record<Victim, number>> {
  const kills = { bookkeeper: 0, postgres: 0, redis: 0, verifier: 0, gateway: 0, 'agent-worker': 0 };
  const waiting: Victim[] = [];
  for (let count = 0; count < plan.kills;) {
    if (waiting.length < 2) waiting.unshift(...random.shuffle(VICTIMS));
    // One of four times two at once, such as the bookkeeper with its database.
    const victims = waiting.splice(-(random.below(4) === 0 ? 2 : 1));
    await sleep(random.below(700));
    await killAndRestart(sales, postgres, new Set(victims), random);
    for (const victim of victims) kills[victim] += 1;
    count += victims.length;
  }
  return kills;
}

async function killAndRestart(
  { stack }: SignedSales,
  postgres: PostgresServer,
  victims: ReadonlySet<Victim>,
  random: Random,
): Promise<void> {
  const number = random.below(2);
  const services: ServiceProcess[] = [];
  if (victims.has('bookkeeper') && stack.bookkeeper) services.push(stack.bookkeeper);
  if (victims.has('verifier')) services.push(stack.verifiers[number]!);
  if (victims.has('gateway')) services.push(stack.gateways[number]!);
  if (victims.has('agent-worker')) services.push(...stack.agentWorkers);
  await Promise.all([
    ...(victims.has('postgres') ? [postgres.kill()] : []),
    ...(victims.has('redis') ? [stack.redis.kill()] : []),
    ...services.map((service) => service.kill('SIGKILL')),
  ]);
  await sleep(random.below(300));
  // The stores first: a service is ready only with them.
  if (victims.has('redis')) await stack.redis.start();
  if (victims.has('postgres')) await postgres.start();
  await Promise.all(services.map((service) => service.restart()));
}
