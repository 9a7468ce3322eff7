import { Logger } from '@nestjs/common';

import { closeWhileBusy } from '../../../test/harness/network/close-while-busy.js';
import { waitFor } from '../../../test/harness/retry.js';
import { findFreePort } from '../../../tools/devnet/processes/free-port.js';
import { startRedis } from '../../../tools/devnet/processes/redis.js';
import { WorkerFixture, type StartedWorker, type TestWallet } from '../test/worker-fixture.js';

describe('the agent worker', () => {
  let fixture: WorkerFixture;
  let wallet: TestWallet;
  let worker: StartedWorker;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await WorkerFixture.start();
    wallet = await fixture.createWallet();
    worker = await fixture.startWorker({ WALLET_PRIVATE_KEY: wallet.privateKey });
  });

  afterAll(() => fixture.stop());

  async function becomes(status: number): Promise<unknown> {
    let body: unknown;
    await waitFor(`readiness is ${status}`, async () => {
      const answer = await fetch(`${worker.url}/health/ready`);
      body = await answer.json();
      return answer.status === status;
    });
    return body;
  }

  it('takes a job from the queue to its end', async () => {
    const jobId = await fixture.submit(wallet.lane);
    const job = await fixture.waitForState(jobId, 'FINAL');
    expect(job.steps.map(({ nonce, mined }) => [nonce, mined !== null])).toEqual([[0, true]]);
    expect(await fixture.readNonce(wallet.lane)).toBe(1);
  });

  it('is alive, and ready when every dependency answers', async () => {
    expect((await fetch(`${worker.url}/health/live`)).status).toBe(200);
    expect(await becomes(200)).toMatchObject({
      status: 'ok',
      details: {
        redis: { status: 'up' },
        queues: { status: 'up' },
        chain: { status: 'up' },
        journal: { status: 'up' },
        wallets: { status: 'up' },
      },
    });
  });

  it('answers an unknown path with problem details', async () => {
    const answer = await fetch(`${worker.url}/nowhere`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ status: 404, code: 'not_found', title: 'Not Found' });
  });

  it('survives a Redis that is killed and restarted, and shows no address meanwhile', async () => {
    await fixture.server.kill();
    // The first 503 may come from a check that began just after Redis's own check had passed.
    let body: unknown;
    await waitFor('readiness says that Redis is down', async () => {
      body = await becomes(503);
      return (body as { details: { redis: { status: string } } }).details.redis.status === 'down';
    });
    expect(body).toMatchObject({ status: 'error' });
    expect(JSON.stringify(body)).not.toContain(String(fixture.server.port));
    expect((await fetch(`${worker.url}/health/live`)).status).toBe(200);
    await fixture.server.start();
    await becomes(200);
    await fixture.redis.ping();
    const jobId = await fixture.submit(wallet.lane);
    await fixture.waitForState(jobId, 'FINAL');
  });

  it('starts without the Redis of the queues: carries out jobs, and is ready once that is up', async () => {
    await fixture.endWorkers();
    const [port, queuePort] = [await findFreePort(), await findFreePort()];
    const starting = fixture.startWorker({
      WALLET_PRIVATE_KEY: wallet.privateKey,
      AGENT_WORKER_PORT: String(port),
      QUEUE_REDIS_URL: `redis://127.0.0.1:${queuePort}`,
    });
    const jobId = await fixture.submit(wallet.lane);
    await Promise.race([starting, fixture.waitForState(jobId, 'FINAL')]);
    const { status } = await fetch(`http://127.0.0.1:${port}/health/ready`);
    expect([(await fixture.journal.readJob(jobId))?.state, status]).toEqual(['FINAL', 503]);
    const queues = await startRedis({ port: queuePort });
    worker = await starting;
    await becomes(200);
    // A request under way is answered, and no connection is waited for after it.
    expect(await closeWhileBusy(worker.url, worker.close)).toContain('HTTP/1.1 404');
    await queues.stop();
  });

  it('gives its lanes back when it is closed while it waits for the Redis of the queues', async () => {
    await fixture.endWorkers();
    const starting = fixture.startWorker({
      WALLET_PRIVATE_KEY: wallet.privateKey,
      LANE_LEASE_MS: '60000',
      QUEUE_REDIS_URL: `redis://127.0.0.1:${await findFreePort()}`,
    });
    const ended = expect(starting).rejects.toThrow();
    const holdsLane = async () => (await fixture.journal.readLane(wallet.lane)).lease !== null;
    await waitFor('it has the lane', holdsLane);
    await fixture.endWorkers();
    expect(await holdsLane()).toBe(false);
    await ended;
  });
});
