import { readFileSync } from 'node:fs';

import { Journal, RELAYER_FLEET } from '@tollgate/journal';
import { Redis } from 'ioredis';

import { sampleLane, submitSample } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { SettlementFixture } from '../../test/settlement-fixture.js';

describe('the metrics of relayers', () => {
  let fixture: SettlementFixture;
  let url: string;

  beforeAll(async () => {
    fixture = await SettlementFixture.start();
    await fixture.setBalance(fixture.relayer().address, 7n * 10n ** 18n);
    const { app } = await fixture.startVerifier();
    url = await app.getUrl();
  });

  afterAll(() => fixture.stop());

  const readMetrics = async () => (await fetch(`${url}/metrics`)).text();

  /** The value of one series; NaN if it does not exist. */
  async function read(name: string, labels: Record<string, string> = {}): Promise<number> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const line = (await readMetrics())
      .split('\n')
      .find((one) => one.startsWith(`${name}{`) && wanted.every((label) => one.includes(label)));
    return Number(line?.split(' ').at(-1) ?? NaN);
  }

  it('count answers by their outcome, and payments by their transaction', async () => {
    const payments = await Promise.all(Array.from({ length: 3 }, () => fixture.sign()));
    const results = await Promise.all(payments.map((payment) => fixture.settle(payment)));
    expect(results.map(({ outcome }) => outcome)).toEqual(['settled', 'settled', 'settled']);
    const dear = await fixture.settle(await fixture.sign({ value: '9000000000000' }));
    expect(dear).toMatchObject({ outcome: 'failed', failure: 'balance_too_low' });

    expect(await read('tollgate_settlements_total', { outcome: 'settled', failure: '' })).toBe(3);
    expect(await read('tollgate_settlements_total', { outcome: 'failed', failure: 'balance_too_low' })).toBe(1);
    expect(await read('tollgate_settlement_batch_payments_sum')).toBe(3);
    const transactions = new Set(results.map((result) => JSON.stringify({ ...result, payer: '' })));
    expect(await read('tollgate_settlement_batch_payments_count')).toBe(transactions.size);
    expect(await read('tollgate_settlement_mined_seconds_count')).toBe(transactions.size);
  });

  it("report a relayer's balance and what it is working on", async () => {
    const relayer = fixture.relayer().address.toLowerCase();
    await waitFor('the relayer is held', async () => (await read('tollgate_relayer_held', { relayer })) === 1);
    const balance = await read('tollgate_relayer_balance', { relayer });
    expect(balance).toBeGreaterThan(6);
    expect(balance).toBeLessThanOrEqual(7);
    await waitFor('nothing is left to do', async () => (await read('tollgate_relayer_open_jobs', { relayer })) === 0);

    await fixture.rpc('evm_setAutomine', [false]);
    const settling = fixture.settle(await fixture.sign());
    await waitFor('it is sent', async () => (await read('tollgate_relayer_in_flight', { relayer })) === 1);
    expect(await read('tollgate_settlements_under_way')).toBe(1);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    expect(await settling).toMatchObject({ outcome: 'settled' });
    await waitFor('nothing is in flight', async () => (await read('tollgate_relayer_in_flight', { relayer })) === 0);
    expect(await read('tollgate_settlements_under_way')).toBe(0);
  });

  it('report what waits for a relayer whose key was removed', async () => {
    const redis = new Redis(fixture.redis.url);
    try {
      const journal = new Journal({ redis, fleet: RELAYER_FLEET, timeoutMs: 30_000 });
      const lane = sampleLane();
      await journal.adopt(lane, { pendingNonce: 0 });
      const { jobId } = await submitSample(journal, lane, 0);
      const open = () => read('tollgate_relayer_open_jobs', { relayer: lane.address });
      await waitFor('its jobs are reported', async () => (await open()) === 1);
      expect(await read('tollgate_relayer_held', { relayer: lane.address })).toBeNaN();
      await journal.cancel(jobId);
      await journal.release(lane);
      await waitFor('its jobs are no longer reported', async () => Number.isNaN(await open()));
    } finally {
      redis.disconnect();
    }
  });

  it('include every metric that the alerts and the page on metrics name', async () => {
    const { app } = await fixture.startVerifier({ BOOK: 'on' });
    const text = await (await fetch(`${await app.getUrl()}/metrics`)).text();
    const [, ownAndLater = ''] = readFileSync('deploy/alerts.yml', 'utf8').split('- name: tollgate-relayers');
    const [alerts = ''] = ownAndLater.split('- name: tollgate-book');
    const alerted = [...alerts.matchAll(/tollgate_\w+/g)].map(([name]) => name.replace(/_(bucket|count)$/, ''));
    const page = readFileSync('docs/operations/metrics.md', 'utf8').matchAll(/\| `(tollgate_\w+)`.*Verifier: /g);
    const names = [...alerted, ...[...page].map(([, name = '']) => name)];
    expect(alerted.length).toBeGreaterThan(5);
    expect(names.length).toBeGreaterThan(20);
    expect(names.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('contain no key', async () => {
    expect(await readMetrics()).not.toContain(fixture.relayer().privateKey.slice(2));
  });
});
