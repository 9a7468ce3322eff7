import { Logger } from '@nestjs/common';
import { ConfigurationError } from '@tollgate/common';

import { startRedis, type RedisServer } from '../../../devnet/redis.js';
import { startAgentWorker } from './start-agent-worker.js';

describe('the agent worker', () => {
  let redis: RedisServer;
  let worker: Awaited<ReturnType<typeof startAgentWorker>> | null = null;
  let url: string;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    redis = await startRedis({ appendonly: false });
    worker = await startAgentWorker(environment());
    url = await worker.app.getUrl();
  });

  afterAll(async () => {
    await worker?.close();
    await redis.stop();
  });

  function environment(): NodeJS.ProcessEnv {
    return { AGENT_WORKER_PORT: '0', REDIS_URL: redis.url, QUEUE_REDIS_URL: redis.url, LOG_LEVEL: 'silent' };
  }

  async function becomes(status: number): Promise<unknown> {
    for (let attempt = 0; attempt < 1_000; attempt++) {
      const answer = await fetch(`${url}/health/ready`);
      const body: unknown = await answer.json();
      if (answer.status === status) return body;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`readiness never became ${status}`);
  }

  it('is alive, and ready when Redis and the queue answer', async () => {
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    expect(await becomes(200)).toMatchObject({
      status: 'ok',
      details: { redis: { status: 'up' }, 'agent-jobs': { status: 'up' } },
    });
  });

  it('publishes metrics', async () => {
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toContain('text/plain');
    expect(await answer.text()).toContain('tollgate_agent_jobs_waiting{service="agent-worker"} 0');
  });

  it('answers an unknown path with problem details', async () => {
    const answer = await fetch(`${url}/nowhere`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(await answer.json()).toMatchObject({ status: 404, code: 'not_found', title: 'Not Found' });
  });

  it('is not ready but alive while Redis is away, says no address, and becomes ready again', async () => {
    await redis.kill();
    const body = await becomes(503);
    expect(body).toMatchObject({ status: 'error', details: { redis: { status: 'down' } } });
    expect(JSON.stringify(body)).not.toContain(String(redis.port));
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    await redis.start();
    await becomes(200);
  });

  it('refuses to start on a wrong configuration, listing all problems', async () => {
    const wrong = { AGENT_WORKER_PORT: '99999', LOG_LEVEL: 'loud', REDIS_URL: 'http://:canary-password@host' };
    const error: unknown = await startAgentWorker(wrong).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).problems).toHaveLength(3);
    expect(String(error)).not.toContain('canary-password');
  });
});
