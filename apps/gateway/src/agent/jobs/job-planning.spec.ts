import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId } from '@tollgate/journal';
import { PLAN_JOB, PLAN_QUEUE, RequestReplyServer, type PlanJobReply, type PlanJobRequest } from '@tollgate/transport';

import { AgentsFixture, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';

describe('POST /agent/jobs?dryRun=true', () => {
  let agents: AgentsFixture;
  let owner: TestKey;
  let worker: RequestReplyServer;
  let reply: PlanJobReply;
  const asked: PlanJobRequest[] = [];

  beforeAll(async () => {
    agents = await AgentsFixture.start({ AGENT_PLAN_TIMEOUT_MS: '5000' });
    owner = await agents.createKey(['submit']);
  });

  afterAll(() => agents.stop());

  const plan = (body: unknown = SAMPLE_JOB) => agents.post('/agent/jobs?dryRun=true', owner, body);

  it('responds 503 when no worker answers', async () => {
    const response = await plan();
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await readProblem(response)).toEqual([503, 'planning_unavailable']);
  });

  describe('with a worker', () => {
    beforeAll(async () => {
      worker = new RequestReplyServer({ redisUrl: agents.server.url, queue: PLAN_QUEUE, routingKeys: ['main'] });
      worker.addHandler(PLAN_JOB, async (request: PlanJobRequest) => {
        asked.push(request);
        return reply;
      });
      await new Promise<void>((resolve) => void worker.listen(() => resolve()));
    });

    afterAll(() => worker.close());

    it('returns the plan, and stores nothing', async () => {
      const summary = 'Send 0.5';
      const empty = { spends: [], receives: [], recipients: [], warnings: [], slippageBps: null };
      const view = { summary, preview: summary, floorsHash: 'f', needsApproval: false, ...empty };
      reply = { outcome: 'planned', plan: view };
      const response = await plan();
      expect([response.status, await response.json()]).toEqual([200, view]);
      expect(asked.at(-1)).toEqual(SAMPLE_JOB);
      expect(response.headers.get('location')).toBeNull();
      expect((await agents.journal.listJobs({ lanes: [agents.lane] })).jobs).toEqual([]);
    });

    it("returns the worker's refusal", async () => {
      const failure = { code: 'INSUFFICIENT_BALANCE', message: 'The wallet has 0.1.', suggestion: 'Send it some.' };
      reply = { outcome: 'refused', failure };
      const response = await plan();
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { code: 'plan_refused', detail: failure.message, failure },
      ]);
    });

    it('responds 503 when the chain does not answer', async () => {
      reply = { outcome: 'unavailable', reason: 'rpc at 10.0.0.7 timed out' };
      const response = await plan();
      expect(await response.clone().text()).not.toContain('10.0.0.7');
      expect(await readProblem(response)).toEqual([503, 'planning_unavailable']);
    });

    it('asks no worker of another wallet', async () => {
      await new WalletDirectory(agents.redis).publish({
        name: 'other',
        lane: createLaneId(1328, `0x${'0e'.repeat(20)}`),
      });
      const holder = await agents.createKey(['submit'], ['other']);
      const before = asked.length;
      const response = await agents.post('/agent/jobs?dryRun=true', holder, { ...SAMPLE_JOB, wallet: 'other' });
      expect(await response.clone().text()).toContain('No worker with the wallet \\"other\\" answers now.');
      expect(await readProblem(response)).toEqual([503, 'planning_unavailable']);
      expect(asked).toHaveLength(before);
    });

    it('asks no worker about an invalid job, or about a wallet of another key', async () => {
      const before = asked.length;
      expect(await readProblem(await plan({ ...SAMPLE_JOB, nonce: 1 }))).toEqual([400, 'request_invalid']);
      expect(await readProblem(await plan({ ...SAMPLE_JOB, wallet: 'x' }))).toEqual([403, 'wallet_not_allowed']);
      expect(asked).toHaveLength(before);
    });
  });
});
