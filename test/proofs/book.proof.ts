import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Balance, BookVerdict } from '@tollgate/book';

import { startPostgres, type PostgresServer } from '../../tools/devnet/processes/postgres.js';
import { createOperatorKey } from '../../tools/devnet/stack/create-operator-key.js';
import { connectOperator, expectWholeBook, type AskOperator } from '../harness/agents/operator-client.js';
import { readTransfersTo } from '../harness/payments/read-transfers.js';
import { waitFor } from '../harness/retry.js';
import { PRICE, startSignedSales, type SignedSales } from '../harness/stack/use-signed-sales.js';
import { balancesOf, exportPayments, judgePayments, readGasCosts } from './judge-book.js';
import { readRound, reportFigures } from './read-round.js';
import { BROKEN, BROKEN_ANSWER, runBookChaos } from './run-book-chaos.js';

const { seed, isQuick } = readRound();
const plan = isQuick ? { seed, kills: 5, clients: 4 } : { seed, kills: 100, clients: 8 };

describe('while bookkeeper, PostgreSQL, Redis, verifiers, gateways and the agent worker are killed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'prove-book-'));
  let postgres: PostgresServer;
  let sales: SignedSales;

  beforeAll(async () => {
    postgres = await startPostgres();
    sales = await startSignedSales({
      gateways: 2,
      verifiers: 2,
      relayers: 2,
      book: { folder, signingKey: randomBytes(32).toString('hex') },
      env: { LEASE_MS: '1500', RECEIPT_WAIT_MS: '0', OPERATOR_RATE_LIMIT_PER_MINUTE: '0' },
      serviceEnv: {
        bookkeeper: { BOOK_DATABASE_URL: postgres.url, RECONCILE_GRACE_SECONDS: '5', OPERATOR_WRITES_PER_DAY: '0' },
      },
    });
    sales.upstream.answer = (request, response) => {
      const isBroken = request.url === BROKEN;
      response
        .writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' })
        .end(isBroken ? BROKEN_ANSWER : '{"sold":true}');
    };
  }, 120_000);

  afterAll(async () => {
    await sales?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  }, 120_000);

  it(
    `every unit on the chain is booked once, as its payer was told (seed ${seed})`,
    async () => {
      const firstBlock = Number(await sales.rpc('eth_blockNumber'));
      await sales.readNewTransfers();
      const { bookkeeper, redis } = sales.stack;
      const ask = connectOperator(bookkeeper!.url, await createOperatorKey(redis.url));
      const { lastAnswers, kills } = await runBookChaos(sales, postgres, ask, plan).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${sales.stack.logs()}`, { cause: error });
      });
      const transfers = await sales.readNewTransfers();
      const readBalances = async () => (JSON.parse(await ask('balances')) as { balances: Balance[] }).balances;
      const count = (outcome: string) => lastAnswers.filter((one) => one.outcome === outcome).length;
      let state = '';
      await waitFor('all is booked', async () => {
        const [booked, gas] = [balancesOf(await readBalances(), true), await readGasCosts(sales, firstBlock)];
        const costs = [...gas].map(([account, cost]) => `${account} ${booked.get(account) ?? 0n} of ${cost}`);
        const payments = await exportPayments(ask);
        state = `${payments.length} of ${transfers.length} payments, ${costs.join(', ')}`;
        const hasGas = [...gas].every(([account, cost]) => (booked.get(account) ?? 0n) === cost);
        return hasGas && payments.length >= transfers.length;
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}: ${state}\n${sales.stack.logs()}`, { cause: error });
      });

      await waitFor('all refunds are sent, and booked', async () => {
        const booked = (await exportPayments(ask)).filter((payment) => payment.state === 'refunded');
        return booked.length === count('refunded');
      });
      const faults = judgePayments(await exportPayments(ask), transfers, lastAnswers);
      const verdict = JSON.parse(await ask('verification')) as BookVerdict;
      const total = Object.values(kills).reduce((sum, number) => sum + number, 0);
      const { lost, doubled, different } = faults;
      reportFigures({
        kills: total,
        killed: kills,
        payments: lastAnswers.length,
        refunds: count('refunded'),
        bookings: verdict.bookings,
        lost: lost.length,
        doubled: doubled.length,
        different: different.length,
      });
      expect(faults).toEqual({ lost: [], doubled: [], different: [] });
      expect(lastAnswers).toHaveLength(transfers.length);
      expect(total).toBeGreaterThanOrEqual(plan.kills);
      for (const outcome of ['answered', 'released', 'refused', 'refunded']) expect(count(outcome)).toBeGreaterThan(0);

      // Each refund has its own transfer to the payer, and the wallet has sent nothing else.
      const wallet = sales.stack.agents!.wallets[0]!.address.toLowerCase();
      const paidBack = await readTransfersTo(sales.chain, sales.chain.accounts[0]!.address, firstBlock);
      const sent = paidBack.transfers.filter(({ from }) => from === wallet);
      expect(sent.map(({ amountBaseUnits }) => amountBaseUnits)).toEqual(sent.map(() => PRICE));
      expect(sent.map(({ txHash }) => txHash).sort()).toEqual((await readRefunds(ask, 'refunded')).sort());
      await expectWholeBook(ask);

      // What the accounts say is what the chain and the clients say.
      const balances = balancesOf(await readBalances(), false);
      const arrived = transfers.reduce((sum, { amountBaseUnits }) => sum + BigInt(amountBaseUnits), 0n);
      expect(balances.get(`chain:${sales.chain.chainId}:${sales.chain.payTo.toLowerCase()}`)).toBe(arrived);
      const sold = [...balances].filter(([account]) => account.startsWith('revenue:'));
      expect(sold.reduce((sum, [, amount]) => sum + amount, 0n)).toBe(-BigInt(PRICE) * BigInt(count('answered')));
      expect(balances.get('owed:released')).toBe(-BigInt(PRICE) * BigInt(count('released')));
      expect(balances.get('owed:refused')).toBe(-BigInt(PRICE) * BigInt(count('refused')));
      expect([...balances.values()].reduce((sum, amount) => sum + amount, 0n)).toBe(0n);
    },
    isQuick ? 240_000 : 3_600_000,
  );
});

/** The transactions of the refunds in a state. */
async function readRefunds(ask: AskOperator, state: string): Promise<string[]> {
  const transactions: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await ask(`refunds?state=${state}&limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`);
    const { refunds, cursor: next } = JSON.parse(page) as {
      refunds: { transaction: string }[];
      cursor: string | null;
    };
    transactions.push(...refunds.map(({ transaction }) => transaction));
    cursor = next;
  }
  return transactions;
}
