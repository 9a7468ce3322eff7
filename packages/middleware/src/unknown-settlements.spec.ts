import { randomUUID } from 'node:crypto';

import { ASSET, PAY_TO, VERSIONS } from '../test/create-payment.js';
import type { Shop } from '../test/serve-fetch.js';
import {
  fail,
  isValid,
  PAYER,
  startFacilitator,
  succeed,
  type ScriptedFacilitator,
} from '../test/start-facilitator.js';
import { SHOPS } from '../test/start-shops.js';
import type { OwedPayment } from './gate/gate-options.js';
import { PaymentGate } from './gate/gate.js';

const HOUR_MS = 3_600_000;
const used = fail('invalid_exact_evm_nonce_already_used');

/** Two servers that do not share a store, and read no chain. */
describe('a payment of which the facilitator does not tell what became', () => {
  let facilitator: ScriptedFacilitator;
  const shops: Shop[] = [];
  const owed: OwedPayment[] = [];
  let onOwed: (payment: OwedPayment) => unknown;
  const troubles: string[] = [];
  let made = 0;
  let nowMs: number;

  beforeAll(async () => {
    facilitator = await startFacilitator();
    for (let count = 0; count < 2; count++) {
      const gate = new PaymentGate({
        payTo: PAY_TO,
        asset: { address: ASSET, name: 'USDC', version: '2', decimals: 6 },
        chainId: 1328,
        facilitator: { url: facilitator.url },
        publicUrl: 'https://shop.example',
        onTrouble: ({ message }) => troubles.push(message),
        onOwed: (payment) => (owed.push(payment), onOwed(payment)),
      });
      shops.push(await SHOPS['express']!(gate, () => ({ body: `the goods ${(made += 1)}` })));
    }
  });

  afterAll(async () => {
    for (const shop of shops) await shop.stop();
    await facilitator.stop();
  });

  beforeEach(() => {
    made = 0;
    owed.length = 0;
    troubles.length = 0;
    facilitator.asked.length = 0;
    facilitator.knowsKeys = false;
    facilitator.verify = isValid;
    facilitator.settle = () => 'hang up';
    onOwed = () => undefined;
    nowMs = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
  });

  afterEach(() => jest.restoreAllMocks());

  /** Valid for one more minute. */
  const pay = () => ({
    ...VERSIONS[1].pay({ validBefore: String(Math.floor(nowMs / 1000) + 60) }),
    'Idempotency-Key': randomUUID(),
  });
  const get = async (headers: Record<string, string>, at = 0) => {
    const response = await fetch(`${shops[at]!.url}/goods?token=secret`, { headers });
    return [response.status, await response.text(), response.headers.get('retry-after')];
  };
  const UNKNOWN = [503, expect.stringContaining('"settlement_unknown"'), '2'];
  const settlements = () => facilitator.asked.filter(({ path }) => path === '/settle').length;

  it('gets the answer that was made for it, once the facilitator tells', async () => {
    const payment = pay();
    expect(await get(payment)).toEqual([503, '{"error":"settlement_pending"}', '2']);
    for (const settle of [used, fail('insufficient_funds'), fail('invalid_transaction_state')]) {
      facilitator.settle = settle;
      expect(await get(payment)).toEqual(UNKNOWN);
    }
    facilitator.settle = succeed;
    expect(await get(payment)).toEqual([200, 'the goods 1', null]);
    expect(await get(payment)).toEqual([200, 'the goods 1', null]);
    expect(made).toBe(1);
    const keys = facilitator.asked.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
    expect(new Set(keys).size).toBe(1);
  });

  it.each([
    ['that gives no reason', ''],
    ['that failed itself', 'unexpected_settle_error'],
    ['whose own node is away', 'facilitator_unavailable'],
    ['that waited for a receipt', 'receipt_timeout'],
    ['that names no transaction of a failed one', 'transaction_failed'],
  ])('is not refused by a facilitator %s', async (_which, reason) => {
    facilitator.settle = fail(reason);
    expect((await get(pay()))[0]).toBe(503);
    expect(settlements()).toBe(2);
  });

  it('is refused by a facilitator whose transaction has failed', async () => {
    facilitator.settle = fail('transaction_failed', `0x${'ab'.repeat(32)}`);
    expect((await get(pay()))[0]).toBe(402);
    expect(settlements()).toBe(1);
  });

  // Prevents: of a server that refuses anything with a 400, a settled payment is forgotten and asked for again.
  it('stays known after a refusal that does not tell', async () => {
    facilitator.settle = () => 400;
    const payment = pay();
    expect(await get(payment)).toEqual([503, '{"error":"facilitator_refused"}', '2']);
    facilitator.verify = () => ({ isValid: false, invalidReason: 'nonce_already_used' });
    facilitator.settle = used;
    expect(await get(payment)).toEqual(UNKNOWN);
    expect(made).toBe(1);
  });

  it('is awaited until an hour after its last moment, and then owed', async () => {
    const payment = pay();
    await get(payment);
    facilitator.settle = used;
    nowMs += 60_000 + HOUR_MS - 1_000;
    expect(await get(payment)).toEqual(UNKNOWN);
    expect(owed).toEqual([]);
    nowMs += 1_000;
    const asked = settlements();
    for (let times = 0; times < 2; times++) expect(await get(payment)).toEqual([410, '{"error":"payment_owed"}', null]);
    // The facilitator is asked for the last time.
    expect([settlements(), made]).toEqual([asked + 1, 1]);
    expect(owed).toEqual([
      {
        payment: expect.stringMatching(/^1328:0x4fcf.*:authorization:0x1111.*:0x/),
        chainId: 1328,
        payer: PAYER,
        payTo: PAY_TO,
        asset: ASSET,
        amountBaseUnits: '1000',
        resource: 'https://shop.example/goods',
      },
    ]);
  });

  it('that settles at the last moment is not owed', async () => {
    const payment = pay();
    await get(payment);
    nowMs += 60_000 + HOUR_MS;
    facilitator.settle = succeed;
    expect(await get(payment)).toEqual([200, 'the goods 1', null]);
    expect(owed).toEqual([]);
  });

  it('is not written off before its owner knows', async () => {
    const payment = pay();
    await get(payment);
    facilitator.settle = used;
    nowMs += 60_000 + HOUR_MS;
    onOwed = () => Promise.reject(new Error('the mail server is away'));
    expect(await get(payment)).toEqual(UNKNOWN);
    expect(troubles.at(-1)).toBe('the mail server is away');
    onOwed = () => Promise.resolve();
    expect((await get(payment))[0]).toBe(410);
    expect(owed).toHaveLength(2);
  });

  it('without an end is awaited no longer than answers are kept', async () => {
    const payment = { ...VERSIONS[1].pay(), 'Idempotency-Key': randomUUID() };
    await get(payment);
    nowMs += 25 * HOUR_MS - 1;
    expect((await get(payment))[0]).toBe(503);
    nowMs += 1;
    expect((await get(payment))[0]).toBe(410);
  });

  // Prevents: a payer whose next request reaches another server is asked to pay again.
  it.each<[string, () => void]>([
    ['finds it used', () => (facilitator.verify = () => ({ isValid: false, invalidReason: 'nonce_already_used' }))],
    ['cannot settle it', () => (facilitator.settle = used)],
  ])('is asked for once more by a server without its record that %s', async (_how, refuse) => {
    const payment = pay();
    await get(payment);
    refuse();
    expect(await get(payment, 1)).toEqual([503, '{"error":"payment_used"}', '2']);
    nowMs += 60_000 + HOUR_MS;
    expect(await get(payment, 1)).toEqual([410, '{"error":"payment_used"}', null]);
    nowMs -= 60_000 + HOUR_MS;
    facilitator.settle = succeed;
    expect((await get(payment))[0]).toBe(200);
    expect(owed).toEqual([]);
  });
});
