import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { claimBook, type PaymentPicture } from '@tollgate/book';
import { encodeProof, parseChallenge, X_PAYMENT, type Hex } from '@tollgate/protocol';

import { OperatorApi } from '../../cli/book/operator-api.js';
import { readBalance } from '../chain/read-balance.js';
import { transferTokens } from '../chain/transfer-tokens.js';
import { playToEnd } from '../demo/play-to-end.js';
import { showHeading, showTable } from '../demo/show-job.js';
import { createOperatorKey } from '../stack/create-operator-key.js';
import type { Stack } from '../stack/stack.js';

const BOOKED_WITHIN_MS = 20_000;
/** The worker looks at its jobs every ten seconds. */
const REFUNDED_WITHIN_MS = 60_000;
/** So short that a payment can be too old within the demo. */
const WINDOW_SECONDS = 8;

/** Sells and refuses, takes a transfer without a request, shows what the book makes of it, and breaks a row of it. Resolves with the exit code. */
export function runBookDemo(): Promise<number> {
  return playToEnd(async ({ keep, startServices }) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-book-demo-'));
    keep({ stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })) });
    const stack = await startServices({
      book: { folder, signingKey: randomBytes(32).toString('hex') },
      agentWorkers: 1,
      agentWallets: { refunds: {} },
      env: {
        BOUND_REDEMPTION_WINDOW_SECONDS: String(WINDOW_SECONDS),
        REDEMPTION_WINDOW_SECONDS: String(WINDOW_SECONDS),
        RECONCILE_GRACE_SECONDS: '2',
      },
    });
    const apiKey = await createOperatorKey(stack.redis.url);
    const operator = new OperatorApi({ operator: stack.bookkeeper?.url ?? '' }, { OPERATOR_API_KEY: apiKey });
    const heldBefore = await readBalance(stack.chain, stack.chain.payTo);

    showHeading(1, 'Two payments buy an answer, and one that is presented too late is refused');
    const sold = [await buy(stack, { status: 200 }), await buy(stack, { status: 200 })];
    const refused = await buy(stack, { status: 402, waitMs: (WINDOW_SECONDS + 3) * 1000 });

    showHeading(2, 'Each is in the book, with its timeline');
    for (const transaction of [...sold, refused]) await showPayment(operator, transaction);

    showHeading(3, 'A transfer that no request presents is owed to its payer as unclaimed');
    const bare = await transferTokens(stack.chain, { amountBaseUnits: 500n });
    console.log(`  500 base units, ${bare}`);
    await showPayment(operator, bare);

    showHeading(4, 'The balances sum to zero, and the recipient has on the chain what the book says');
    await compareWithChain(operator, stack, heldBefore);

    showHeading(5, 'The refused payment is paid back, to the payer that the chain shows');
    await refundOne(operator, stack, refused);

    showHeading(6, 'Every transfer and every transaction of the relayer is in the book, and nothing else');
    await reconcile(operator);

    showHeading(7, 'The book is whole, and is closed with a signature');
    await operator.ask('POST /operator/closings', {});
    const whole = await operator.ask('GET /operator/verification', {});
    if (whole.broken !== null || whole.closings !== 1) throw new Error(`the book is broken: ${whole.broken}`);
    console.log(`  ${whole.bookings} bookings, ${whole.entries} entries, ${whole.closings} closing`);

    showHeading(8, 'An administrator of the database changes an amount, which the book notices');
    await breakRow(stack, folder);
    const { broken } = await operator.ask('GET /operator/verification', {});
    if (broken === null || !broken.startsWith('Entry 1 of booking 1: its amount is 1,'))
      throw new Error(`found: ${broken}`);
    console.log(`  ${broken}`);
    console.log('\nEvery check passed.');
  });
}

/** The payment of a transaction, once it is in the book. */
async function waitForPayment(operator: OperatorApi, transaction: string): Promise<PaymentPicture> {
  for (const untilMs = Date.now() + BOOKED_WITHIN_MS; Date.now() < untilMs; await sleep(100)) {
    const { payments } = await operator.ask('GET /operator/payments', { query: { transaction } });
    if (payments[0]) return operator.ask('GET /operator/payments/:id', { id: payments[0].id });
  }
  throw new Error(`the payment of ${transaction} is not in the book`);
}

/** Pays the price, presents the payment after a while, and returns the hash of its transaction. */
async function buy({ baseUrl, chain }: Stack, expected: { status: number; waitMs?: number }): Promise<string> {
  const url = `${baseUrl}/api/weather`;
  const [requirement] = parseChallenge(await (await fetch(url)).json()).accepts;
  const [payer] = chain.accounts;
  if (!requirement || !payer) throw new Error('the challenge accepts nothing, or the devnet has no accounts');
  const { maxAmountRequired: amount, extra, network } = requirement;
  const transfer = { from: payer.address, amountBaseUnits: BigInt(amount), lockReference: extra.reference };
  const txHash = await transferTokens(chain, transfer);
  await sleep(expected.waitMs ?? 0);
  const payload = { txHash, amount, from: payer.address, reference: extra.reference };
  const proof = encodeProof({ x402Version: 1, scheme: 'exact', network, payload });
  const { status } = await fetch(url, { headers: { [X_PAYMENT]: proof } });
  if (status !== expected.status) throw new Error(`expected ${expected.status}, got ${status}`);
  console.log(`  ${amount} base units, ${txHash}: ${status}`);
  return txHash;
}

async function showPayment(operator: OperatorApi, transaction: string): Promise<void> {
  const { id, state, reason, timeline, entries } = await waitForPayment(operator, transaction);
  console.log(`\n  ${id}: ${state}${reason === null ? '' : ` (${reason})`}`);
  const [first] = timeline;
  const startMs = Date.parse(first?.at ?? '');
  console.log(`    ${timeline.map(({ step, at }) => `${step} +${Date.parse(at) - startMs} ms`).join(', ')}`);
  showTable(
    ['ACCOUNT', 'BASE UNITS'],
    entries.map(({ account, amount }) => [account, amount]),
  );
}

async function compareWithChain(operator: OperatorApi, { chain }: Stack, heldBefore: bigint): Promise<void> {
  const { balances } = await operator.ask('GET /operator/balances', {});
  showTable(
    ['ACCOUNT', 'ASSET', 'BASE UNITS'],
    balances.map(({ account, asset, amount }) => [account, asset, amount]),
  );
  const sum = balances.reduce((total, { amount }) => total + BigInt(amount), 0n);
  const account = `chain:${chain.chainId}:${chain.payTo.toLowerCase()}`;
  const booked = BigInt(balances.find((one) => one.account === account)?.amount ?? '0');
  const received = (await readBalance(chain, chain.payTo)) - heldBefore;
  console.log(`\n  sum ${sum}; on the chain ${received}, in the book ${booked}, difference ${received - booked}`);
  if (sum !== 0n || received !== booked) throw new Error('book and chain differ');
}

/** Once everything is compared; throws where chain and book differ. */
async function reconcile(operator: OperatorApi): Promise<void> {
  for (const untilMs = Date.now() + BOOKED_WITHIN_MS; ; await sleep(100)) {
    const answer = await operator.ask('GET /operator/reconcile', {});
    const { chainOnly, bookOnly, different, waiting, firstBlock, block } = answer;
    const differences = [...chainOnly, ...bookOnly, ...different];
    if (block !== null && waiting.transfers + waiting.payments + differences.length === 0) {
      console.log(`  blocks ${firstBlock} to ${block}: on the chain only 0, in the book only 0, different 0`);
      return;
    }
    if (Date.now() > untilMs) throw new Error(`chain and book differ: ${JSON.stringify(answer)}`);
  }
}

/** Pays the refused payment back, and compares with the payer's balance. */
async function refundOne(operator: OperatorApi, { chain }: Stack, transaction: string): Promise<void> {
  const { id, payer } = await waitForPayment(operator, transaction);
  const before = await readBalance(chain, payer as Hex);
  const asked = await operator.ask('POST /operator/refunds', { body: { payment: id } });
  for (const untilMs = Date.now() + REFUNDED_WITHIN_MS; ; await sleep(200)) {
    const { state, detail } = await operator.ask('GET /operator/refunds/:id', { id: asked.id });
    if (state === 'refunded') break;
    if (state === 'failed' || Date.now() > untilMs) throw new Error(`the refund is ${state}: ${detail}`);
  }
  const payment = await operator.ask('GET /operator/payments/:id', { id });
  const paidBack = (await readBalance(chain, payer as Hex)) - before;
  console.log(`  refund ${asked.id}: ${paidBack} base units to ${payer}; the payment is ${payment.state}`);
  if (String(paidBack) !== payment.amount) throw new Error('another amount was paid back than had arrived');
}

/** As the owner of the database can: with the triggers turned off, while the bookkeeper does not run. */
async function breakRow({ bookkeeper }: Stack, folder: string): Promise<void> {
  await bookkeeper?.kill('SIGTERM');
  const database = await claimBook({ folder });
  const change = 'UPDATE entries SET amount = 1 WHERE id = 1';
  await database.execute(
    `ALTER TABLE entries DISABLE TRIGGER USER; ${change}; ALTER TABLE entries ENABLE TRIGGER USER`,
  );
  await database.close();
  console.log(`  ${change}`);
  await bookkeeper?.restart();
}
