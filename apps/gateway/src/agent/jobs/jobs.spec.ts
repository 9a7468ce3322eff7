import { randomBytes } from 'node:crypto';

import type { AgentJobView } from '@tollgate/protocol';

import { AgentsFixture, createKeyText, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';

describe('POST /agent/jobs and GET /agent/jobs/:id', () => {
  let agents: AgentsFixture;
  let owner: TestKey;

  beforeAll(async () => {
    agents = await AgentsFixture.start();
    owner = await agents.createKey(['submit', 'read']);
  });

  afterAll(() => agents.stop());

  it('accepts a job and returns its location', async () => {
    const response = await agents.submit(owner);
    expect(response.status).toBe(202);
    const job = (await response.json()) as AgentJobView;
    expect(response.headers.get('location')).toBe(`/agent/jobs/${job.id}`);
    expect(job).toMatchObject({ ...SAMPLE_JOB, state: 'PLANNED', steps: [], plan: null, failure: null, answer: null });
    const read = await agents.call(`/agent/jobs/${job.id}`, owner);
    expect([read.status, await read.json()]).toEqual([200, job]);
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(await agents.journal.readJob(job.id)).toMatchObject({ keyId: owner.id, lane: agents.lane });
  });

  it('wakes the job in the queue of its lane', async () => {
    const { id } = await agents.submitSample(owner);
    const names = await agents.redis.keys('tollgate:{agent}:agent-wake-*:[0-9]*');
    const woken = await Promise.all(names.map((name) => agents.redis.hget(name, 'data')));
    expect(woken).toContain(JSON.stringify({ jobId: id }));
  });

  describe('an idempotency key', () => {
    it('creates one job, however often the same request is sent, with the key in quotes too', async () => {
      const key = createKeyText();
      const [first, ...others] = await Promise.all(
        Array.from({ length: 10 }, (_, index) => agents.submit(owner, SAMPLE_JOB, index % 2 === 0 ? key : `"${key}"`)),
      );
      const jobs = await Promise.all([first!, ...others].map((response) => response.json() as Promise<AgentJobView>));
      expect(new Set(jobs.map(({ id }) => id)).size).toBe(1);
      const replayed = [first!, ...others].filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
      expect(replayed).toHaveLength(9);
    });

    it('is refused with another body, but can be used with another API key', async () => {
      const key = createKeyText();
      await agents.submit(owner, SAMPLE_JOB, key);
      const other = { ...SAMPLE_JOB, input: { ...SAMPLE_JOB.input, amount: '0.6' } };
      expect(await readProblem(await agents.submit(owner, other, key))).toEqual([409, 'idempotency_key_reused']);
      const stranger = await agents.createKey(['submit']);
      const response = await agents.submit(stranger, other, key);
      expect([response.status, response.headers.get('idempotent-replayed')]).toEqual([202, null]);
    });

    it.each([
      ['none', {}],
      ['an empty one', { 'Idempotency-Key': '' }],
      ['spaces', { 'Idempotency-Key': 'a b' }],
    ])('is required: %s is refused', async (_name, headers) => {
      const response = await agents.post('/agent/jobs', owner, SAMPLE_JOB, headers);
      expect(await readProblem(response)).toEqual([400, 'idempotency_key_invalid']);
    });

    it('of 255 characters is accepted, of 256 refused', async () => {
      const [long, tooLong] = [randomBytes(127).toString('hex') + 'x', randomBytes(128).toString('hex')];
      expect((await agents.submit(owner, SAMPLE_JOB, long)).status).toBe(202);
      expect(await readProblem(await agents.submit(owner, SAMPLE_JOB, tooLong))).toEqual([
        400,
        'idempotency_key_invalid',
      ]);
    });
  });
});
