import { writeStoredPlan } from '@tollgate/agent-jobs';
import { createJobId } from '@tollgate/journal';
import type { AgentPlanView } from '@tollgate/protocol';
import { PLAN_QUEUE, READ_MINED_NONCE, RequestReplyServer } from '@tollgate/transport';

import { mineSample, planSample, sampleAttempt, sampleStep } from '../../../../../libs/journal/test/sample-jobs.js';
import { AgentsFixture, createKeyText, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';

const PLAN: AgentPlanView = {
  summary: 'Send 0.5 to a friend',
  preview: 'Send 0.5\nto a friend',
  spends: [{ token: '0x0', symbol: 'SEI', amount: '0.5' }],
  receives: [],
  recipients: ['0x00000000000000000000000000000000000a11ce'],
  warnings: [],
  slippageBps: null,
  floorsHash: 'floors-1',
  needsApproval: true,
};

describe('decisions about jobs', () => {
  let agents: AgentsFixture;
  let owner: TestKey;
  let stranger: TestKey;
  let operator: TestKey;
  let token: number;

  beforeAll(async () => {
    agents = await AgentsFixture.start({ AGENT_RATE_LIMIT_PER_MINUTE: '0' });
    [owner, stranger] = [await agents.createKey(['submit', 'read']), await agents.createKey(['submit', 'read'])];
    operator = await agents.createKey(['operator', 'submit']);
    token = (await agents.journal.takeLease(agents.lane, 'worker', 600_000))!.token;
  });

  afterAll(() => agents.stop());

  const decide = (key: TestKey, id: string, what: string, body?: unknown) =>
    agents.post(`/agent/jobs/${id}/${what}`, key, body);
  const submit = async () => ({ jobId: (await agents.submitSample(owner)).id, stepIndex: 0, token });
  const awaitApproval = async () => {
    const write = await submit();
    const plan = {
      plan: writeStoredPlan(PLAN, { spends: {}, receives: {}, recipients: [] }),
      floorsHash: PLAN.floorsHash,
      needsApproval: true,
    };
    await agents.journal.putPlan({ ...write, steps: [sampleStep()], ...plan });
    return write;
  };

  describe('cancelling', () => {
    it('ends a job that has sent nothing, and may be repeated', async () => {
      const { jobId } = await submit();
      for (let turn = 0; turn < 2; turn++) {
        const response = await decide(owner, jobId, 'cancel');
        expect([response.status, await response.json()]).toMatchObject([
          200,
          { state: 'CANCELLED', failure: { code: 'JOB_CANCELLED' }, endedAt: expect.any(String) },
        ]);
      }
    });

    it('is answered 202 while a transaction is in flight', async () => {
      const write = await submit();
      await planSample(agents.journal, write);
      await agents.journal.reserve({ ...write, maxInFlight: 100 });
      const response = await decide(owner, write.jobId, 'cancel');
      expect([response.status, await response.json()]).toMatchObject([
        202,
        { state: 'RESERVED', failure: { code: 'JOB_CANCELLED' }, steps: [{ state: 'given_up' }] },
      ]);
    });

    it('is too late once the last step is mined', async () => {
      const write = await submit();
      await planSample(agents.journal, write);
      await mineSample(agents.journal, write);
      const response = await decide(owner, write.jobId, 'cancel');
      expect([response.status, await response.json()]).toMatchObject([409, { code: 'job_state', state: 'MINED' }]);
    });

    it("is not allowed for another key's job, except to operators", async () => {
      const { jobId } = await submit();
      expect(await readProblem(await decide(stranger, jobId, 'cancel'))).toEqual([404, 'job_not_found']);
      expect((await decide(operator, jobId, 'cancel')).status).toBe(200);
    });
  });

  describe('approving', () => {
    it('lets exactly this plan continue, and records the approver', async () => {
      const { jobId } = await awaitApproval();
      const shown = await (await agents.call(`/agent/jobs/${jobId}`, operator)).json();
      expect(shown).toMatchObject({ state: 'AWAITING_APPROVAL', plan: PLAN });
      expect(shown).toMatchObject({ approval: { floorsHash: PLAN.floorsHash, approvedBy: null } });
      const other = await decide(operator, jobId, 'approve', { floorsHash: 'floors-0' });
      expect([other.status, await other.json()]).toMatchObject([
        409,
        { code: 'floors_changed', floorsHash: PLAN.floorsHash, state: 'AWAITING_APPROVAL' },
      ]);
      const response = await decide(operator, jobId, 'approve', { floorsHash: PLAN.floorsHash });
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { state: 'PLANNED', approval: { floorsHash: PLAN.floorsHash, approvedBy: operator.id } },
      ]);
    });

    it('is not allowed with the key that submitted the job', async () => {
      const own = await agents.submitSample(operator);
      const write = { jobId: own.id, stepIndex: 0, token };
      const plan = { plan: null, floorsHash: 'f', needsApproval: true };
      await agents.journal.putPlan({ ...write, steps: [sampleStep()], ...plan });
      const response = await decide(operator, own.id, 'approve', { floorsHash: 'f' });
      expect(await readProblem(response)).toEqual([403, 'own_job']);
    });

    it('is not possible for a job that sends a refund, which the bookkeeper approves and resumes', async () => {
      const jobId = createJobId(agents.lane);
      const named = { jobId, lane: agents.lane, operation: 'refund', wallet: 'refunds', keyId: owner.id, input: {} };
      await agents.journal.submitNamed(named);
      const plan = { plan: null, floorsHash: 'f', needsApproval: true };
      await agents.journal.putPlan({ jobId, stepIndex: 0, token, steps: [sampleStep()], ...plan });
      const response = await decide(operator, jobId, 'approve', { floorsHash: 'f' });
      expect([response.status, await response.json()]).toMatchObject([
        409,
        { code: 'job_state', state: 'AWAITING_APPROVAL', detail: expect.stringContaining('/operator/jobs/') },
      ]);
      const failure = { code: 'JOURNAL_LOST_WRITES', message: 'In doubt.', suggestion: 'Look.' };
      await agents.journal.needOperator({ jobId, stepIndex: 0, token, failure });
      const resumed = await decide(operator, jobId, 'resume');
      expect([resumed.status, await resumed.json()]).toMatchObject([
        409,
        { code: 'job_state', state: 'NEEDS_OPERATOR', detail: expect.stringContaining('paid already') },
      ]);
    });

    it.each([[undefined], [{}], [{ floorsHash: 7 }], [{ floorsHash: 'f', force: true }], [['f']]])(
      'needs the hash of the plan and nothing else: %j',
      async (body) => {
        const { jobId } = await awaitApproval();
        expect(await readProblem(await decide(operator, jobId, 'approve', body))).toEqual([400, 'request_invalid']);
      },
    );

    it('can be rejected for good', async () => {
      const { jobId } = await awaitApproval();
      const response = await decide(operator, jobId, 'reject');
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { state: 'REJECTED', failure: { code: 'JOB_REJECTED' } },
      ]);
      const late = await decide(operator, jobId, 'approve', { floorsHash: PLAN.floorsHash });
      expect(await readProblem(late)).toEqual([409, 'job_state']);
    });
  });

  it('has the transaction of a job replaced for an operator alone, and only where it has one', async () => {
    const write = await submit();
    expect(await readProblem(await decide(operator, write.jobId, 'speed-up'))).toEqual([409, 'job_state']);
    await planSample(agents.journal, write);
    const reserved = await agents.journal.reserve({ ...write, maxInFlight: 100 });
    const nonce = 'nonce' in reserved ? reserved.nonce : -1;
    await agents.journal.putAttempt({ ...write, expectedAttempts: 0, nonce, attempt: sampleAttempt() });
    expect(await readProblem(await decide(owner, write.jobId, 'speed-up'))).toEqual([403, 'scope_missing']);
    const response = await decide(operator, write.jobId, 'speed-up');
    expect([response.status, await response.json()]).toMatchObject([200, { state: 'SIGNED' }]);
    expect((await agents.journal.readJob(write.jobId))?.steps[0]).toMatchObject({ isHurried: true });
  });

  describe('a job that needs an operator', () => {
    const failure = { code: 'NONCE_TAKEN', message: 'A stranger used the nonce.', suggestion: 'Look.' };
    const park = async (reserves: boolean) => {
      const write = await submit();
      await planSample(agents.journal, write);
      const reserved = reserves ? await agents.journal.reserve({ ...write, maxInFlight: 100 }) : null;
      await agents.journal.needOperator({ ...write, failure });
      return { ...write, nonce: reserved && 'nonce' in reserved ? reserved.nonce : null };
    };

    it('resumes where it was', async () => {
      const { jobId } = await park(false);
      const response = await decide(operator, jobId, 'resume');
      expect([response.status, await response.json()]).toMatchObject([200, { state: 'PLANNED', failure: null }]);
    });

    it('can be abandoned if it has sent nothing', async () => {
      const { jobId } = await park(false);
      const response = await decide(operator, jobId, 'abandon');
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { state: 'CANCELLED', failure: { code: 'JOB_ABANDONED' } },
      ]);
    });

    it('can be abandoned if a worker reports that its nonce is used on the chain', async () => {
      const { jobId, nonce } = await park(true);
      expect(await readProblem(await decide(operator, jobId, 'abandon'))).toEqual([503, 'planning_unavailable']);
      let minedNonce = nonce!;
      let isAttemptMined = false;
      const worker = new RequestReplyServer({ redisUrl: agents.server.url, queue: PLAN_QUEUE });
      worker.addHandler(READ_MINED_NONCE, async () => ({ outcome: 'read', minedNonce, isAttemptMined }));
      await new Promise<void>((resolve) => void worker.listen(() => resolve()));
      expect(await readProblem(await decide(operator, jobId, 'abandon'))).toEqual([409, 'job_state']);
      minedNonce += 1;
      isAttemptMined = true;
      expect(await readProblem(await decide(operator, jobId, 'abandon'))).toEqual([409, 'job_state']);
      isAttemptMined = false;
      expect((await decide(operator, jobId, 'abandon')).status).toBe(200);
      await worker.close();
    });
  });

  describe('retrying', () => {
    const retry = (key: TestKey, id: string, idempotencyKey = createKeyText()) =>
      agents.post(`/agent/jobs/${id}/retry`, key, undefined, { 'Idempotency-Key': idempotencyKey });

    it('creates one new job that refers to the old one', async () => {
      const { jobId } = await submit();
      await decide(owner, jobId, 'cancel');
      const key = createKeyText();
      const [first, again] = [await retry(owner, jobId, key), await retry(owner, jobId, key)];
      const job = (await first.json()) as { id: string };
      expect([first.status, first.headers.get('location')]).toEqual([202, `/agent/jobs/${job.id}`]);
      expect(job).toMatchObject({ ...SAMPLE_JOB, state: 'PLANNED', retryOf: jobId });
      expect([again.headers.get('idempotent-replayed'), await again.json()]).toEqual(['true', job]);
      expect(await readProblem(await agents.submit(owner, SAMPLE_JOB, key))).toEqual([409, 'idempotency_key_reused']);
    });

    it('is refused for a job that has not failed, for the job of another key, and without an idempotency key of its own', async () => {
      const { jobId } = await submit();
      expect(await readProblem(await retry(owner, jobId))).toEqual([409, 'job_state']);
      expect(await readProblem(await retry(stranger, jobId))).toEqual([404, 'job_not_found']);
      expect(await readProblem(await retry(operator, jobId))).toEqual([404, 'job_not_found']);
      await decide(owner, jobId, 'cancel');
      expect(await readProblem(await decide(owner, jobId, 'retry'))).toEqual([400, 'idempotency_key_invalid']);
    });
  });

  it('shows every attempt with its explorer link, and no signed transaction', async () => {
    const write = await submit();
    await planSample(agents.journal, write);
    const reserved = await agents.journal.reserve({ ...write, maxInFlight: 100 });
    const attempt = sampleAttempt();
    const nonce = 'nonce' in reserved ? reserved.nonce : -1;
    await agents.journal.putAttempt({ ...write, expectedAttempts: 0, nonce, attempt });
    const text = await (await agents.call(`/agent/jobs/${write.jobId}`, owner)).text();
    expect(JSON.parse(text)).toMatchObject({
      state: 'SIGNED',
      steps: [
        {
          state: 'signed',
          nonce,
          valueWei: (2n ** 200n).toString(),
          mined: null,
          attempts: [
            {
              kind: 'first',
              txHash: attempt.hash,
              explorerUrl: `https://explorer.example/tx/${attempt.hash}`,
              sentAt: null,
            },
          ],
        },
      ],
    });
    expect(text).not.toContain(attempt.raw);
  });
});
