import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { urlOf, useRedis } from '../../../test/harness/stack/borrow-redis.js';
import { tollgate } from '../../../tools/cli/test/run-tollgate.js';
import { CHAIN_ID, HEAD_AT_BIRTH, leaseOf, sampleClaim, sampleHash, sampleTransfer } from '../test/sample-payments.js';
import { hashRetryKey } from './create-keys.js';
import { bucketOf, entryKey, REFUSED_SEEN, REFUSED_STREAM } from './keys.js';
import { Ledger } from './ledger.js';
import { locatePayment, type PaymentId } from './payment-id.js';
import { listPayments, showPayments, type PaymentListing } from './read-payments.js';
import { listRefusals } from './refusals.js';

const run = promisify(execFile);
const ADDRESS = `0x${'ab'.repeat(20)}` as const;
const PAYER = `0x${'c1'.repeat(20)}` as const;

describe('reading the ledger', () => {
  const redis = useRedis();
  let ledger: Ledger;

  beforeEach(async () => {
    await redis.flushall();
    ledger = new Ledger({ redis, chainIds: [1328], timeoutMs: 30_000 });
    await ledger.open({ chainId: 1328, blockNumber: HEAD_AT_BIRTH });
  });

  /** One payment in each state, in this order. */
  const fill = async () => {
    const claim = async () => leaseOf(await ledger.claim(sampleClaim(ledger, { retryKey: hashRetryKey('x') })));
    const leases = { leased: await claim(), answered: await claim(), done: await claim(), released: await claim() };
    await ledger.commit(leases.answered, { status: 200, headers: [], body: Buffer.from('hello') });
    await ledger.commit(leases.done, null);
    await ledger.release(leases.released, { counted: true });
    return leases;
  };

  /** In this process; the last test starts one. */
  const runWith = (settings: Record<string, string>, ...args: string[]) =>
    tollgate(['payments', ...args], { REDIS_URL: urlOf(redis), ...settings });
  const payments = (...args: string[]) => runWith({}, ...args);

  it('lists every payment once, page by page', async () => {
    const wanted = new Set<string>();
    for (let index = 0; index < 1500; index++) {
      const { id } = leaseOf(await ledger.claim(sampleClaim(ledger)));
      wanted.add(JSON.stringify(id));
    }
    const listed: PaymentListing[] = [];
    let pages = 0;
    for (let cursor: string | null = '0:0'; cursor !== null; pages++) {
      const page: Awaited<ReturnType<typeof listPayments>> = await listPayments(redis, { cursor, limit: 200 });
      listed.push(...page.payments);
      cursor = page.cursor;
    }
    expect(pages).toBeGreaterThan(1);
    expect(new Set(listed.map(({ id }) => JSON.stringify(id)))).toEqual(wanted);
  });

  it('lists by state', async () => {
    const leases = await fill();
    for (const [state, lease] of Object.entries(leases) as [PaymentListing['state'], typeof leases.leased][]) {
      const page = await listPayments(redis, { state });
      expect(page).toMatchObject({
        payments: [{ id: lease.id, state, generation: 1, hasRetryKey: true }],
        cursor: null,
      });
    }
  });

  it('lists and shows signed payments among the others', async () => {
    const ids: PaymentId[] = [
      { kind: 'authorization', chainId: CHAIN_ID, asset: ADDRESS, from: ADDRESS, nonce: sampleHash() },
      { kind: 'permit2', chainId: CHAIN_ID, owner: ADDRESS, nonce: '98765432109876543210' },
    ];
    for (const id of ids) {
      await ledger.claim(sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { id })] }));
      expect(await showPayments(redis, locatePayment(id).entry)).toMatchObject([{ id, state: 'leased' }]);
    }
    const { payments: listed } = await listPayments(redis);
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
    expect(await payments('show', locatePayment(ids[1]!).entry)).toMatch(/98765432109876543210.*leased/s);
  });

  it('records a refusal once per payment and failure', async () => {
    const { id } = sampleTransfer(ledger);
    const [payer, payTo] = [`0x${'ab'.repeat(20)}`, `0x${'5b'.repeat(20)}`] as const;
    const txHash = sampleHash();
    const refusal = { id, failure: 'payment_too_old', payer, amountBaseUnits: 1000n } as const;
    expect(await ledger.recordRefusal({ ...refusal, minedAtMs: 5 })).toBe(true);
    expect(await ledger.recordRefusal(refusal)).toBe(false);
    await ledger.recordRefusal({ id, failure: 'amount_too_low', asset: ADDRESS, payTo, amountBaseUnits: 7n });
    const whole = { kind: 'transaction', chainId: CHAIN_ID, txHash } as const;
    await ledger.recordRefusal({ id: whole, failure: 'payment_late', detail: 'two words' });
    const [late, low, old] = await listRefusals(redis);
    expect(await redis.xlen(REFUSED_STREAM)).toBe(3);
    const payment = `tx:${CHAIN_ID}:${txHash}:receipt`;
    expect(late).toMatchObject({ payment, failure: 'payment_late', detail: 'two words' });
    const paid = { asset: ADDRESS, payTo, amountBaseUnits: '7' };
    expect(low).toMatchObject({ failure: 'amount_too_low', payer: null, ...paid });
    expect(old).toMatchObject({
      failure: 'payment_too_old',
      payer,
      asset: null,
      payTo: null,
      amountBaseUnits: '1000',
      minedAtMs: 5,
    });
    expect(await listRefusals(redis, { limit: 1 })).toEqual([late]);
    expect(await listRefusals(redis, { before: low!.position })).toEqual([old]);
  });

  it('keeps a bounded number of refusals', async () => {
    const small = new Ledger({ redis, chainIds: [1328], refusalsKept: 10 });
    await small.open();
    for (let index = 0; index < 25; index++) {
      await small.recordRefusal({ id: sampleTransfer(small).id, failure: 'payment_late' });
    }
    expect([await redis.xlen(REFUSED_STREAM), await redis.zcard(REFUSED_SEEN)]).toEqual([10, 10]);
  });

  it('prints a table, and JSON', async () => {
    const { leased, answered } = await fill();
    if (leased.id.kind !== 'transfer' || answered.id.kind !== 'transfer') throw new Error('expected transfers');
    const table = await payments('list');
    expect(table).toMatch(/^STATE +SINCE +RELEASES +RETRY KEY +AMOUNT +SYMBOL +BASE UNITS +PAYER +PAYMENT\n/);
    expect(table).toMatch(new RegExp(` yes +- +- +- +- +tx:${CHAIN_ID}:${leased.id.txHash}:0$`, 'm'));
    const json = JSON.parse(await payments('list', '--state', 'leased', '--limit', '1', '--json')) as unknown;
    expect(json).toMatchObject([{ state: 'leased', id: leased.id }]);
    const details = await payments('show', answered.id.txHash.toUpperCase().replace('0X', '0x'));
    expect(details).toMatch(/stored answer +\d+ bytes/);
    expect(await payments('refused')).toBe('No payment was refused.');
    await ledger.recordRefusal({ id: leased.id, failure: 'payment_too_old', amountBaseUnits: 1000n });
    expect(await payments('refused')).toMatch(/payment_too_old +- +- +1000 +- +tx:/);
  });

  it('lists amounts in units of the token that the settings describe, with the payer, as far as they are known', async () => {
    const [chainId, asset, nonce] = [CHAIN_ID, ADDRESS, sampleHash()];
    const authorized = { kind: 'authorization', chainId, asset, from: PAYER, nonce } as const;
    const elsewhere = { ...authorized, chainId: 31337 };
    const permitted = { kind: 'permit2', chainId, owner: PAYER, nonce: '7' } as const;
    const amounts = [{ amountBaseUnits: 12_500n }, { amountBaseUnits: 10n ** 77n }, { amountBaseUnits: 3n }];
    for (const [at, id] of [authorized, elsewhere, permitted].entries()) {
      const lease = leaseOf(await ledger.claim(sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { id })] })));
      await ledger.fixAmount(lease, BigInt(12_500 + at));
      await ledger.recordRefusal({ id, failure: 'payment_late', ...amounts[at] });
    }
    const { id } = sampleTransfer(ledger);
    await ledger.recordRefusal({ id, failure: 'payment_late', asset, payer: PAYER, amountBaseUnits: 0n });
    const { entry } = locatePayment(permitted);
    await redis.hset(entryKey(bucketOf(entry), entry), 'permit:amount', 'NaN');
    const settings = {
      ASSET_ADDRESS: ADDRESS.toUpperCase().replace('X', 'x'),
      ASSET_DECIMALS: '4',
      ASSET_SYMBOL: 'EURT',
    };

    const listed = await runWith(settings, 'list');
    expect(listed).toMatch(new RegExp(` 1.25 +EURT +12500 +${PAYER} +auth:${CHAIN_ID}:`));
    expect(listed).toMatch(new RegExp(` - +- +12501 +${PAYER} +auth:31337:`));
    expect(listed).toMatch(new RegExp(` - +- +- +${PAYER} +permit:`));
    const json = JSON.parse(await runWith(settings, 'list', '--json')) as PaymentListing[];
    expect(json).toContainEqual(expect.objectContaining({ asset, payer: PAYER, meteredBaseUnits: '12500' }));
    expect(json).toContainEqual(expect.objectContaining({ asset: null, payer: PAYER, meteredBaseUnits: null }));

    const refused = await runWith(settings, 'refused');
    expect(refused).toMatch(/^RECORDED +FAILURE +AMOUNT +SYMBOL +BASE UNITS +PAYER +PAYMENT\n/);
    expect(refused).toMatch(new RegExp(` 1.25 +EURT +12500 +${PAYER} +auth:${CHAIN_ID}:`));
    expect(refused).toMatch(new RegExp(` - +- +10{77} +${PAYER} +auth:31337:`));
    expect(refused).toMatch(new RegExp(` - +- +3 +${PAYER} +permit:`));
    expect(refused).toMatch(new RegExp(` 0 +EURT +0 +${PAYER} +tx:`));
    for (const decimals of ['six', '-1', '37', '1e1'])
      await expect(runWith({ ...settings, ASSET_DECIMALS: decimals }, 'list')).rejects.toMatchObject({
        code: 1,
        stderr: 'ASSET_DECIMALS must be a whole number from 0 to 36.\n',
      });
  });

  it('fails for a payment that the ledger does not hold, as table and as JSON', async () => {
    for (const args of [[], ['--json']]) {
      await expect(payments('show', sampleHash(), ...args)).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^Not in the ledger on chain 1328\..*auth:…/),
      });
    }
  });

  it('looks for a hash on the chain of CHAIN_ID, unless --chain names another', async () => {
    const txHash = sampleHash();
    const id = { kind: 'transfer', chainId: 31337, txHash, logIndex: 0 } as const;
    await ledger.claim(sampleClaim(ledger, { candidates: [sampleTransfer(ledger, { id })] }));
    const settings = { CHAIN_ID: '31337' };
    expect(await runWith(settings, 'show', txHash)).toContain(`tx:31337:${txHash}:0`);
    expect(await payments('show', txHash, '--chain', '31337')).toContain(`tx:31337:${txHash}:0`);
    const elsewhere = { code: 1, stderr: expect.stringMatching(/on chain 1328\./) };
    await expect(payments('show', txHash)).rejects.toMatchObject(elsewhere);
    await expect(runWith(settings, 'show', txHash, '--chain', '1328')).rejects.toMatchObject(elsewhere);
    await expect(runWith({ CHAIN_ID: 'sei' }, 'show', txHash)).rejects.toMatchObject({
      code: 1,
      stderr: 'CHAIN_ID must be a whole number.\n',
    });
  });

  it('prints its usage, and what was wrong with the arguments', async () => {
    expect(await payments('--help')).toContain('Usage: tollgate payments');
    await expect(payments('list', '--state', 'lost')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--state'),
    });
    await expect(payments('show', '0x12')).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('0x12') });
    await expect(payments('list', '--redis', 'redis://:secret@127.0.0.1:1')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^(?!.*secret).*Redis did not answer \(ECONNREFUSED\)/s),
    });
    for (const args of [['dance'], ['list', 'leased'], ['show'], ['show', sampleHash(), sampleHash()]]) {
      const typed = payments(...args, '--redis', 'redis://127.0.0.1:1');
      await expect(typed).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/See tollgate payments .*--help\.$/m),
      });
    }
  });

  it('finds the Redis of a running npm run dev by the folder of its state', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-payments-'));
    try {
      await writeFile(join(folder, 'dev.json'), JSON.stringify({ redisUrl: urlOf(redis) }));
      const env = { ...process.env, REDIS_URL: '', TOLLGATE_STATE_DIR: folder };
      const program = ['scripts/typescript.cjs', 'tools/cli/main.ts', 'payments', 'list'];
      const { stdout } = await run(process.execPath, program, { env });
      expect(stdout).toBe('The ledger holds no such payment.\n');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
