import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Logger } from '@nestjs/common';
import type { CrashPoint } from '@tollgate/journal';
import { locatePayment } from '@tollgate/ledger';
import type { OperatorRefund } from '@tollgate/operator-api';

import { PRICE, RefundFixture } from '../../apps/bookkeeper/test/refund-fixture.js';
import { findFreePort } from '../../tools/devnet/processes/free-port.js';
import { startService, type ServiceApp, type ServiceProcess } from '../../tools/devnet/processes/service-process.js';
import { waitFor } from '../harness/retry.js';

describe('a bookkeeper that is killed between the steps of a refund', () => {
  let fixture: RefundFixture;
  let service: ServiceProcess;
  let worker: ServiceProcess;
  let token: string;
  let crashFile: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await RefundFixture.start();
    token = await fixture.base.createToken('operator:read', 'operator:refund');
    crashFile = join(fixture.base.server.dir, 'crash-point');
    const settings = fixture.base.environment(fixture.settings({ CRASH_POINT_FILE: crashFile }));
    service = await start('bookkeeper', 'BOOKKEEPER_PORT', settings, './test/harness/stack/crash-hook.ts');
    fixture.useBookkeeper(service.url);
    worker = await start('agent-worker', 'AGENT_WORKER_PORT', { ...fixture.workerSettings(), LANE_LEASE_MS: '1500' });
    await fixture.waitUntilPublished();
  }, 180_000);

  afterAll(async () => {
    await worker?.stop();
    await service?.stop();
    await fixture?.stop();
  });

  async function start(app: ServiceApp, port: string, settings: NodeJS.ProcessEnv, preload?: string) {
    const { PATH, HOME, TMPDIR } = process.env;
    const number = String(await findFreePort());
    const env = { PATH, HOME, TMPDIR, ...settings, LOG_LEVEL: 'warn', [port]: number };
    return startService({ app, name: app, url: `http://127.0.0.1:${number}`, env, preload });
  }

  it.each<CrashPoint>(['R1', 'R2', 'R3', 'R4', 'R5', 'R6'])(
    'pays back once if it was killed at %s, and goes on by itself or by the same command',
    async (point) => {
      const payer = fixture.chain.accounts[1]!.address;
      const id = await fixture.pay(payer);
      await fixture.refuse(id);
      const payment = fixture.nameOf(id);
      const before = await fixture.balanceOf(payer);
      writeFileSync(crashFile, `${point} SIGKILL`);
      const asked = fixture.post<OperatorRefund>('/operator/refunds', token, { payment }).catch(() => null);
      await Promise.all([asked, waitFor('it is killed', () => wakeUntilKilled())]);
      // Every second time, the same command is given again; otherwise the bookkeeper goes on at its start.
      await service.restart();
      if (['R1', 'R3', 'R5'].includes(point)) await fixture.post('/operator/refunds', token, { payment });
      const refund = await fixture.waitForRefund(fixture.refundOf(payment), 'refunded', token);
      expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
      await waitFor('it is booked once', async () => {
        const { body } = await fixture.get<{ refunded: string }>(`/operator/payments/${payment}`, token);
        return body.refunded === String(PRICE);
      });
      expect(refund).toMatchObject({ attempt: 1, jobState: 'FINAL' });
    },
    180_000,
  );

  it('pays nothing back for a payment that was answered while it was down, and forgotten by the ledger since', async () => {
    const payer = fixture.chain.accounts[3]!.address;
    const id = await fixture.pay(payer);
    await fixture.refuse(id);
    const payment = fixture.nameOf(id);
    const before = await fixture.balanceOf(payer);
    writeFileSync(crashFile, 'R1 SIGKILL');
    const asked = fixture.post<OperatorRefund>('/operator/refunds', token, { payment }).catch(() => null);
    await Promise.all([asked, waitFor('it is killed', () => Promise.resolve(service.hasExited()))]);
    await fixture.sell(id);
    const { redis } = fixture.base;
    // Its entry expires.
    expect(await redis.del(await redis.keys(`tollgate:{pay-*}:${locatePayment(id).entry}*`))).toBeGreaterThan(0);
    await service.restart();
    const refund = await fixture.waitForRefund(fixture.refundOf(payment), 'failed', token);
    expect(refund).toMatchObject({ maybeSent: false, detail: expect.stringContaining('bought an answer') });
    const retried = await fixture.post<OperatorRefund>(`/operator/refunds/${refund.id}/retry`, token);
    expect(await fixture.waitUntilRead(retried.body, token)).toMatchObject({ state: 'failed', attempt: 2 });
    expect(await fixture.balanceOf(payer)).toBe(before);
  }, 180_000);

  it('pays back once if the worker is killed meanwhile, three times', async () => {
    const payer = fixture.chain.accounts[2]!.address;
    const id = await fixture.pay(payer);
    await fixture.refuse(id);
    const before = await fixture.balanceOf(payer);
    const { body } = await fixture.post<OperatorRefund>('/operator/refunds', token, { payment: fixture.nameOf(id) });
    for (let turn = 0; turn < 3; turn++) {
      await fixture.wakeAll();
      await worker.kill();
      await worker.restart();
    }
    await fixture.waitForRefund(body.id, 'refunded', token);
    expect((await fixture.balanceOf(payer)) - before).toBe(PRICE);
  }, 180_000);

  /** The last points are reached once the job is final, which needs a wake-up. */
  async function wakeUntilKilled(): Promise<boolean> {
    await fixture.wakeAll();
    return service.hasExited();
  }
});
