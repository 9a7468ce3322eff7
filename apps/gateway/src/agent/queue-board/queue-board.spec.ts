import { AGENT_JOBS_QUEUE, AGENT_QUEUE_PREFIX, wakeQueueOf } from '@tollgate/agent-jobs';
import { Queue } from 'bullmq';

import { AgentsFixture, readProblem, type TestKey } from '../../../test/start-agents.js';

describe('/agent/queues', () => {
  let agents: AgentsFixture;
  let operator: TestKey;

  beforeAll(async () => {
    agents = await AgentsFixture.start();
    operator = await agents.createKey(['operator']);
  });

  afterAll(() => agents.stop());

  const asBrowser = (path: string, key: TestKey, init: RequestInit = {}) => {
    const Authorization = `Basic ${Buffer.from(`anybody:${key.token}`).toString('base64')}`;
    return agents.call(path, null, { ...init, headers: { Authorization } });
  };

  it('shows operators a page; their browser sends the key as a password', async () => {
    for (const response of [
      await asBrowser('/agent/queues', operator),
      await agents.call('/agent/queues/', operator),
    ]) {
      expect([response.status, await response.text()]).toEqual([
        200,
        expect.stringContaining('<title>Tollgate</title>'),
      ]);
      const policy = response.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
    }
  });

  it.each([
    '/agent/queues',
    '/agent/queues/api/queues',
    '/agent/queues/queue/agent-jobs',
    '/agent/queues/static/favicon.ico',
  ])('requires a key at %s', async (path) => {
    const response = await agents.call(path, null);
    expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="tollgate"/);
    expect(await readProblem(response)).toEqual([401, 'api_key_refused']);
    const reader = await agents.createKey(['read', 'submit'], ['*']);
    expect(await readProblem(await asBrowser(path, reader))).toEqual([403, 'scope_missing']);
  });

  it('shows the queues of all lanes and their jobs, but no signature', async () => {
    const queue = new Queue(AGENT_JOBS_QUEUE, { connection: { url: agents.server.url }, prefix: AGENT_QUEUE_PREFIX });
    await queue.add('job', { operation: 'swap', signature: 'canary-signature' });
    await queue.close();
    const response = await agents.call(`/agent/queues/api/queues?activeQueue=${AGENT_JOBS_QUEUE}`, operator);
    const text = await response.text();
    const { queues } = JSON.parse(text) as {
      queues: { name: string; readOnlyMode: boolean; jobs: { data: unknown }[] }[];
    };
    expect(queues.map(({ name }) => name)).toEqual(['agent-jobs', wakeQueueOf(agents.lane)]);
    expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
    expect(queues[0]!.jobs).toMatchObject([{ data: { operation: 'swap', signature: '[hidden]' } }]);
    expect(text).not.toContain('canary-signature');
  });

  // Prevents: another site's page makes the operator's browser empty a queue.
  it.each([
    ['PUT', '/agent/queues/api/queues/agent-jobs/obliterate'],
    ['PUT', '/agent/queues/api/queues/pause'],
    ['POST', '/agent/queues/api/queues/agent-jobs/add'],
    ['PATCH', '/agent/queues/api/queues/agent-jobs/1/update-data'],
    ['DELETE', '/agent/queues'],
  ])('changes nothing: %s %s is not served', async (method, path) => {
    const response = await asBrowser(path, operator, { method });
    expect([404, 405]).toContain(response.status);
  });

  it('is the only route that accepts a key as a password', async () => {
    expect((await asBrowser('/agent/jobs', operator)).status).toBe(401);
  });
});
