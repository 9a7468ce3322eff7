import type { AgentJobPage } from '@tollgate/protocol';

import { spoilJob } from '../../../../../libs/journal/test/sample-jobs.js';
import { AgentsFixture, readProblem, SAMPLE_JOB, type TestKey } from '../../../test/start-agents.js';

describe('GET /agent/jobs', () => {
  let agents: AgentsFixture;
  let owner: TestKey;
  let operator: TestKey;
  const own: string[] = [];
  const others: string[] = [];

  beforeAll(async () => {
    agents = await AgentsFixture.start();
    [owner, operator] = [await agents.createKey(['submit', 'read']), await agents.createKey(['operator'])];
    const other = await agents.createKey(['submit']);
    for (let index = 0; index < 5; index++) {
      own.unshift((await agents.submitSample(owner)).id);
      others.unshift((await agents.submitSample(other)).id);
    }
    own.unshift((await agents.submitSample(owner, { operation: 'stake', wallet: 'main', input: { amount: '1' } })).id);
    await agents.journal.cancel(own[1]!);
  });

  afterAll(() => agents.stop());

  const list = async (key: TestKey, query = ''): Promise<AgentJobPage> =>
    (await agents.call(`/agent/jobs${query}`, key)).json() as Promise<AgentJobPage>;
  const idsOf = ({ jobs }: AgentJobPage) => jobs.map(({ id }) => id);

  it('shows a key its own jobs, newest first, and an operator all', async () => {
    expect(idsOf(await list(owner))).toEqual(own);
    expect(idsOf(await list(operator)).sort()).toEqual([...own, ...others].sort());
    expect((await list(owner)).jobs.at(-1)).toMatchObject({ ...SAMPLE_JOB, state: 'PLANNED' });
  });

  it('continues where the last page ended', async () => {
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: AgentJobPage = await list(owner, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      ids.push(...idsOf(page));
      ({ cursor } = page);
    }
    expect(ids).toEqual(own);
  });

  it.each([
    ['?state=CANCELLED', [1]],
    ['?state=CANCELLED,PLANNED&limit=2', [0, 1]],
    ['?operation=stake', [0]],
    ['?operation=swap', []],
    ['?wallet=main&limit=1', [0]],
    ['?wallet=nobody-has-it', []],
  ])('filters by %s', async (query, places) => {
    expect(idsOf(await list(owner, query))).toEqual(places.map((place) => own[place]));
  });

  it('names a job that cannot be read apart, and shows it to no other key', async () => {
    const [unreadable, ...rest] = own.toReversed();
    const mend = await spoilJob(agents.redis, agents.lane, unreadable!);
    const page = await list(owner);
    expect([idsOf(page), page.unreadable]).toEqual([rest.toReversed(), [unreadable]]);
    expect((await list(owner, '?state=CANCELLED')).unreadable).toEqual([unreadable]);
    expect(idsOf(await list(operator))).toHaveLength(own.length + others.length - 1);
    expect((await list(operator)).unreadable).toEqual([unreadable]);
    expect(await list(await agents.createKey(['read']))).toEqual({ jobs: [], cursor: null });
    await mend();
    expect(await list(owner)).not.toHaveProperty('unreadable');
  });

  it.each([
    ['?status=FINAL'],
    ['?state=final'],
    ['?state='],
    ['?state=FINAL&state=FINAL'],
    ['?operation=FINAL'],
    ['?limit=0'],
    ['?limit=201'],
    ['?limit=1e2'],
    ['?limit=050'],
    ['?cursor=x'],
    [`?cursor=${'9'.repeat(400)}`],
    ['?__proto__=x'],
    [`?${'x'.repeat(5000)}=1`],
  ])('refuses %s', async (query) => {
    const response = await agents.call(`/agent/jobs${query}`, owner);
    expect(await readProblem(response)).toEqual([400, 'request_invalid']);
  });
});
