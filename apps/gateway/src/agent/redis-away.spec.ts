import { waitFor } from '../../../../test/harness/retry.js';
import { startRedis } from '../../../../tools/devnet/processes/redis.js';
import { openEvents } from '../../test/read-events.js';
import { AgentsFixture, createKeyText, readProblem, SAMPLE_JOB } from '../../test/start-agents.js';

describe('without Redis', () => {
  it('no job is accepted, and the same request is accepted once when Redis is back', async () => {
    const server = await startRedis();
    const agents = await AgentsFixture.start({}, server);
    const owner = await agents.createKey(['submit', 'read']);
    const accepted = await agents.submitSample(owner);
    const reader = await openEvents(`${agents.gateway.url}/agent/events`, owner.token);
    await server.kill();
    const key = createKeyText();
    for (const response of [await agents.submit(owner, SAMPLE_JOB, key), await agents.call('/agent/jobs', owner)]) {
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await readProblem(response)).toEqual([503, 'jobs_unavailable']);
    }
    await server.start();
    await agents.redis.ping();
    let response = await agents.submit(owner, SAMPLE_JOB, key);
    await waitFor('the job is accepted', async () => {
      if (response.status !== 202) response = await agents.submit(owner, SAMPLE_JOB, key);
      return response.status === 202;
    });
    expect((await agents.call(`/agent/jobs/${accepted.id}`, owner)).status).toBe(200);
    expect((await agents.journal.listJobs({ lanes: [agents.lane] })).jobs).toHaveLength(2);
    // The event stream stayed open during the outage.
    await agents.journal.open();
    const reading = { pendingNonce: 0, blockNumber: 1, run: (await agents.journal.readLane(agents.lane)).run! };
    await agents.journal.thaw(agents.lane, reading, { nonceDoubtBlocks: 0, nonceDoubtMs: 0 });
    await agents.journal.cancel(accepted.id);
    expect(await reader.readEvents(1)).toMatchObject([{ jobId: accepted.id, type: 'transactionFailed' }]);
    await agents.stop();
  });
});
