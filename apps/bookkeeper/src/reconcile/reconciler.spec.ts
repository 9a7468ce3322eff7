import { readFileSync } from 'node:fs';

import { Logger } from '@nestjs/common';
import type { Hex } from '@tollgate/protocol';

import { authorizationId, deliver, hashOf, refunding, refused } from '../../../../libs/book/test/sample-events.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { encodeTransfer } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { readEventStream } from '../../test/read-event-stream.js';
import { ReconcileFixture } from '../../test/reconcile-fixture.js';

const NOTHING = { chainOnly: [], bookOnly: [], different: [], unreconciled: [] };

describe('reconciling the book with the chain', () => {
  let fixture: ReconcileFixture;
  let holder: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await ReconcileFixture.start();
    holder = `chain:${fixture.chain.chainId}:${fixture.chain.payTo.toLowerCase()}`;
  });

  afterEach(async () => {
    expect(await fixture.verify()).toBeNull();
    const sum = Object.values(await fixture.balances()).reduce((total, amount) => total + BigInt(amount), 0n);
    expect(sum).toBe(0n);
  });

  afterAll(() => fixture.stop());

  /** What happens changes the balances by this. */
  async function changesOf(work: () => Promise<unknown>): Promise<Record<string, bigint>> {
    const before = await fixture.balances();
    await work();
    const after = await fixture.balances();
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const changes = names.map((name) => [name, BigInt(after[name] ?? '0') - BigInt(before[name] ?? '0')] as const);
    return Object.fromEntries(changes.filter(([, amount]) => amount !== 0n));
  }

  it('finds nothing where every transfer has its event, in whatever order they come', async () => {
    const [early, late] = [await fixture.pay(), await fixture.pay()];
    const id = await fixture.answer(early);
    await fixture.waitForState(id, 'answered');
    await fixture.waitForState(await fixture.answer(late), 'answered');
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
    expect(await fixture.balances()).toEqual({ [holder]: '20000', 'revenue:/api/weather': '-20000' });
  });

  it('books a bare transfer as unclaimed, and as revenue when it is presented after all', async () => {
    const transaction = await fixture.pay(7_000n);
    const id = fixture.nameOf(transaction);
    expect(await changesOf(() => fixture.waitForState(id, 'unclaimed'))).toEqual({
      [holder]: 7_000n,
      'owed:unclaimed': -7_000n,
    });
    expect(await fixture.findPayment(id)).toMatchObject({ payer: fixture.payer(), amount: '7000', transaction });
    const claimed = changesOf(async () => {
      await fixture.answer(transaction, { amount: '7000' });
      await fixture.waitForState(id, 'answered');
    });
    expect(await claimed).toEqual({ 'owed:unclaimed': 7_000n, 'revenue:/api/weather': -7_000n });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
  });

  it('takes back what was unclaimed when it is presented under another name', async () => {
    const transaction = await fixture.pay(3_000n);
    await fixture.waitForState(fixture.nameOf(transaction), 'unclaimed');
    const id = authorizationId(77);
    const claimed = changesOf(async () => {
      await fixture.answer(transaction, { id, amount: '3000' });
      await fixture.waitForState(id, 'answered');
    });
    expect(await claimed).toEqual({ 'owed:unclaimed': 3_000n, 'revenue:/api/weather': -3_000n });
    expect(await fixture.findPayment(fixture.nameOf(transaction))).toMatchObject({
      state: 'withdrawn',
      reason: `booked as ${id}`,
    });
    // Its money has bought an answer under the other name.
    expect(await fixture.refund(fixture.nameOf(transaction))).toMatchObject({
      status: 409,
      body: { code: 'refund_refused', reason: 'withdrawn', detail: expect.stringContaining(id) },
    });
    expect(await fixture.get('/operator/refunds')).toMatchObject({ refunds: [] });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
  });

  it('finds the money of an event that the database refuses', async () => {
    const transaction = await fixture.pay(2_500n);
    const id = await fixture.answer(transaction, { amount: '9'.repeat(100) });
    await fixture.waitForState(id, 'unclaimed');
    expect(await fixture.get('/operator/health')).toMatchObject({ refusedEvents: 1 });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
  });

  it('owes a refused payment once, and corrects an amount that the chain shows otherwise', async () => {
    const transaction = await fixture.pay(9_000n);
    const id = fixture.nameOf(transaction);
    const event = refused(id, { amount: '8000' });
    const facts = { ...event.facts, transaction, payer: fixture.payer() };
    const changes = changesOf(async () => {
      await fixture.books.report(deliver({ ...event, facts } as typeof event));
      await waitFor('it is corrected', async () => (await fixture.findPayment(id)).amount === '9000');
    });
    expect(await changes).toEqual({ [holder]: 9_000n, 'owed:refused': -9_000n });
    expect((await fixture.findPayment(id)).entries.at(-1)).toMatchObject({ kind: 'correction' });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
  });

  it('has nothing to decide about a payment that is closed for a refund, and whose event names another payer', async () => {
    const { rpcUrl, asset } = fixture.chain;
    // In the book before the chain shows it.
    await callRpc(rpcUrl, 'evm_setAutomine', [false]);
    const data = encodeTransfer(fixture.chain, { amountBaseUnits: 6_000n });
    const sent = { from: fixture.payer(1), to: asset, data };
    const transaction = (await callRpc(rpcUrl, 'eth_sendTransaction', [sent])) as Hex;
    const id = fixture.nameOf(transaction);
    const event = refused(id, { amount: '6000' });
    const facts = { ...event.facts, transaction, payer: fixture.payer() };
    await fixture.books.report(deliver({ ...event, facts } as typeof event));
    await fixture.books.report(deliver(refunding(id)));
    await fixture.waitForState(id, 'refunding');
    await fixture.mine();
    await callRpc(rpcUrl, 'evm_setAutomine', [true]);
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
    expect(await fixture.findPayment(id)).toMatchObject({ state: 'refunding', amount: '6000' });
  });

  it('takes back a payment that no block has, and books it again when one has it', async () => {
    const snapshot = await callRpc(fixture.chain.rpcUrl, 'evm_snapshot');
    const transaction = await fixture.pay();
    const bytes = await callRpc(fixture.chain.rpcUrl, 'eth_getRawTransactionByHash', [transaction]);
    const id = await fixture.answer(transaction);
    await fixture.waitForState(id, 'answered');
    await fixture.waitUntilCompared();
    await callRpc(fixture.chain.rpcUrl, 'evm_revert', [snapshot]);
    // Other blocks in their place.
    await fixture.mine(3);
    const removed = changesOf(() => fixture.waitForState(id, 'withdrawn'));
    expect(await removed).toEqual({ [holder]: -10_000n, 'revenue:/api/weather': 10_000n });
    expect(await fixture.findPayment(id)).toMatchObject({ reason: 'removed_from_chain' });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);

    expect(await callRpc(fixture.chain.rpcUrl, 'eth_sendRawTransaction', [bytes])).toBe(transaction);
    const again = changesOf(() => fixture.waitForState(id, 'answered'));
    expect(await again).toEqual({ [holder]: 10_000n, 'revenue:/api/weather': -10_000n });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
  });

  it('moves a settlement to the transaction that the chain has after a reorganisation', async () => {
    const id = authorizationId(5);
    const transaction = await fixture.pay();
    await fixture.settle([id], { transaction: hashOf(501), effectiveGasPrice: null });
    await fixture.answer(hashOf(501), { id });
    await fixture.waitForState(id, 'withdrawn');
    const moved = changesOf(async () => {
      await fixture.settle([id], { transaction, effectiveGasPrice: null, blockNumber: 99 });
      await fixture.waitForState(id, 'answered');
    });
    expect(Object.keys(await moved)).toContain('revenue:/api/weather');
    expect(await fixture.findPayment(id)).toMatchObject({ transaction });
    expect(await fixture.waitUntilCompared()).toMatchObject(NOTHING);
  });

  it('does not book money from before the book was complete, and names it', async () => {
    const transaction = await fixture.pay(5_000n);
    await fixture.waitForState(fixture.nameOf(transaction), 'unclaimed');
    await fixture.completeFrom(Date.now() + 600_000);
    await waitFor(
      'the bookkeeper knows it',
      async () => Date.parse((await fixture.read()).completeFrom ?? '') > Date.now(),
    );
    await fixture.pay(1_234n);
    await waitFor('it is listed', async () => (await fixture.read()).chainOnly.length === 1);
    expect(await fixture.read()).toMatchObject({
      chainOnly: [{ amount: '1234', reason: 'before_the_book_was_complete' }],
      unreconciled: [{ asset: `${fixture.chain.chainId}:${fixture.chain.asset.toLowerCase()}`, amount: '1234' }],
    });
    expect(await fixture.get('/operator/health')).toMatchObject({
      well: false,
      troubles: expect.arrayContaining([
        expect.objectContaining({ about: 'chain', mend: 'tollgate reconcile' }),
      ]) as unknown,
    });
    // Compared again since, and told once.
    const { comparedAt } = await fixture.read();
    await waitFor('it is compared again', async () => (await fixture.read()).comparedAt !== comparedAt);
    const url = `${fixture.bookkeeper.url}/operator/events?type=reconcile.difference,payment.settled`;
    const stream = await readEventStream(url, fixture.token, 'e-0');
    // A comparison may also have told of the payment that was in the book before the chain showed it.
    const readTold = () =>
      stream.events.flatMap(({ difference }) => (difference?.list === 'chain_only' ? [difference] : []));
    await waitFor('it is told', async () => readTold().length > 0);
    stream.close();
    expect(readTold()).toMatchObject([{ amount: '1234', reason: 'before_the_book_was_complete' }]);
  });

  it('shows every metric that the alerts of the book and the page on metrics name', async () => {
    const text = await (await fetch(`${fixture.bookkeeper.url}/metrics`)).text();
    const [, alerts = ''] = readFileSync('deploy/alerts.yml', 'utf8').split('- name: tollgate-book');
    const alerted = [...alerts.matchAll(/tollgate_\w+/g)].map(([name]) => name);
    const page = readFileSync('docs/operations/metrics.md', 'utf8').matchAll(/\| `(tollgate_\w+)`.*[Bb]ookkeeper: /g);
    const names = new Set([...alerted, ...[...page].map(([, name = '']) => name)]);
    expect(alerted.length).toBeGreaterThan(5);
    expect(names.size).toBeGreaterThan(10);
    // The length of the outbox is the verifiers'.
    const ofVerifiers = ['tollgate_book_outbox_events', 'tollgate_book_outbox_limit_events'];
    expect([...names].filter((name) => !text.includes(`# TYPE ${name} `)).sort()).toEqual(ofVerifiers);
  });
});
