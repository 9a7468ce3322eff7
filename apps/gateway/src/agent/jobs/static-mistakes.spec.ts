import { WalletDirectory } from '@tollgate/agent-jobs';
import { createLaneId } from '@tollgate/journal';

import { AgentsFixture, createKeyText, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';

const RECEIVER = SAMPLE_JOB.input.to;
const POSITION = { product: 'BTC-PERP', side: 'long', amount: '1' };

describe('static mistakes of a job', () => {
  let agents: AgentsFixture;
  let owner: TestKey;

  beforeAll(async () => {
    agents = await AgentsFixture.start({ AGENT_RATE_LIMIT_PER_MINUTE: '0' });
    owner = await agents.createKey(['submit', 'read'], ['*']);
    await agents.publishTokens();
  });

  afterAll(() => agents.stop());

  it.each([
    [
      'the zero address',
      'transfer',
      { amount: '1', to: `0x${'0'.repeat(40)}` },
      'input.to must be an address other than',
    ],
    [
      'an unknown token',
      'transfer',
      { amount: '1', to: RECEIVER, token: 'EURC' },
      'input.token must be 0x0, an address',
    ],
    [
      'too many decimals',
      'transfer',
      { amount: '0.1234567', to: RECEIVER, token: 'usdc' },
      'input.amount must have at',
    ],
    [
      'too many decimals of the native token',
      'stake',
      { amount: `0.${'1'.repeat(19)}` },
      'input.amount must have at most 18',
    ],
    [
      'a leverage of 25',
      'perpsOpenPosition',
      { ...POSITION, leverage: 25 },
      'input.leverage must be a whole number from 1 to 20',
    ],
  ])('(%s) are refused before the job is accepted or planned', async (_name, operation, input, problem) => {
    const job = { operation, wallet: 'main', input };
    const headers = { 'Idempotency-Key': createKeyText() };
    for (const path of ['/agent/jobs', '/agent/jobs?dryRun=true']) {
      const response = await agents.post(path, owner, job, headers);
      const body = (await response.clone().json()) as { problems: string[]; detail: string };
      expect(await readProblem(response)).toEqual([400, 'request_invalid']);
      expect(body.problems).toEqual([expect.stringContaining(problem)]);
      expect(body.detail).toBe(body.problems[0]);
    }
    expect(await agents.journal.readOpenJobs(agents.lane)).toEqual([]);
  });

  it('in tokens are left to the worker until it has published its tokens', async () => {
    const lane = createLaneId(1328, `0x${'7'.repeat(40)}`);
    await agents.journal.adopt(lane, { pendingNonce: 0 });
    await new WalletDirectory(agents.redis).publish({ name: 'fresh', lane });
    const job = { operation: 'transfer', wallet: 'fresh', input: { amount: '1', to: RECEIVER, token: 'EURC' } };
    const key = createKeyText();
    const first = await agents.submit(owner, job, key);
    expect(first.status).toBe(202);
    const { id } = (await first.json()) as { id: string };

    await agents.publishTokens('fresh');
    expect(await readProblem(await agents.submit(owner, job))).toEqual([400, 'request_invalid']);
    // A repeated submission returns the same job, even if it would be refused by now.
    const again = await agents.submit(owner, job, key);
    expect([again.status, await again.json()]).toMatchObject([202, { id }]);
    await agents.post(`/agent/jobs/${id}/cancel`, owner);
    const retried = await agents.post(`/agent/jobs/${id}/retry`, owner, undefined, {
      'Idempotency-Key': createKeyText(),
    });
    expect(await readProblem(retried)).toEqual([400, 'request_invalid']);
  });

  it('are not looked for in a token that is given by its address', async () => {
    const input = { amount: `0.${'1'.repeat(30)}`, to: RECEIVER, token: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
    expect((await agents.submit(owner, { operation: 'transfer', wallet: 'main', input })).status).toBe(202);
  });
});
