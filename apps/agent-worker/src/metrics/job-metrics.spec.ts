import { Registry } from 'prom-client';

import { finishSample, sampleLane, spoilJob, submitSample } from '../../../../libs/journal/test/sample-jobs.js';
import { startJournal, type StartedJournal } from '../../../../libs/journal/test/start-journal.js';
import { JobMetrics } from './job-metrics.js';

describe('the metrics of jobs', () => {
  let started: StartedJournal;

  beforeAll(async () => {
    started = await startJournal();
  });

  afterAll(() => started.stop());

  it('count every end, and time the jobs that can be read', async () => {
    const { journal, redis } = started;
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: 0 });
    const token = (await journal.takeLease(lane, 'worker', 600_000))!.token;
    const writes = [await submitSample(journal, lane, token), await submitSample(journal, lane, token)];
    for (const write of writes) await finishSample(journal, write);
    await spoilJob(redis, lane, writes[0]!.jobId);
    const registry = new Registry();
    const troubles: unknown[] = [];
    const metrics = new JobMetrics(registry, journal, { report: (wallet, error) => troubles.push([wallet, error]) });
    await metrics.take(await journal.outbox.read(lane, { after: 0 }), 'main');
    const exposed = await registry.metrics();
    expect(exposed).toMatch(/^tollgate_agent_jobs_ended_total\{wallet="main",operation="swap",state="FINAL"\} 2$/m);
    expect(exposed).toMatch(/^tollgate_agent_job_final_seconds_count\{operation="swap"\} 1$/m);
    expect(troubles).toEqual([['main', expect.objectContaining({ jobId: writes[0]!.jobId })]]);
  });
});
